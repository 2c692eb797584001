"""Bytes that tell whether they are what was written: cut short, changed, or under another key, they are not."""

from hashlib import blake2b

__all__ = ["MARK", "opened", "sealed"]

MARK = b"ctx1"
"""What every entry begins with."""
_SIZE = 16


def sealed(key: str, data: bytes) -> bytes:
    """The data with a checksum of it and of the key in front."""
    return MARK + _checksum(key, data) + data


def opened(key: str, data: object) -> bytes:
    """What was sealed under this key. Raises ValueError if this is not that."""
    if not isinstance(data, bytes) or data[: len(MARK)] != MARK:
        raise ValueError("it does not begin as entries do")
    begin = len(MARK) + _SIZE
    checksum, content = data[len(MARK) : begin], data[begin:]
    if checksum != _checksum(key, content):
        raise ValueError("its checksum is wrong")
    return content


def _checksum(key: str, data: bytes) -> bytes:
    return blake2b(data, digest_size=_SIZE, key=blake2b(key.encode(), digest_size=32).digest()).digest()
