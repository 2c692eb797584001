"""What holds for all tests: no network, repeatable examples."""

import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import disable_socket, enable_socket, socket_allow_hosts

from ctxcompress.errors import CtxCompressWarning

# By default some examples of each property; with --hypothesis-profile many, which make test-all sets, or few.
settings.register_profile("some", max_examples=12, deadline=None)
settings.register_profile("many", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("few", max_examples=10, deadline=None, derandomize=True)
settings.load_profile("some")


def pytest_runtest_setup() -> None:
    # Event loops wake themselves through a pair of Unix sockets.
    disable_socket(allow_unix_socket=True)


@pytest.fixture
def loopback() -> None:
    """Sockets are open to servers on this machine."""
    enable_socket()
    socket_allow_hosts(["127.0.0.1"])


@pytest.fixture(scope="session")
def cases_folder() -> Path:
    """The folder of evaluation cases that CTXCOMPRESS_CASES names. Without it the test is skipped."""
    folder = os.environ.get("CTXCOMPRESS_CASES")
    if not folder:
        pytest.skip("CTXCOMPRESS_CASES names no folder of cases")
    return Path(folder)


class Warned:
    """The warnings of this library in a test."""

    def __init__(self, found: list[warnings.WarningMessage]) -> None:
        self._found = found

    @property
    def messages(self) -> list[str]:
        return [str(each.message) for each in self._found if each.category is CtxCompressWarning]

    @property
    def text(self) -> str:
        return "\n".join(self.messages)

    @property
    def files(self) -> list[str]:
        """The files whose lines were warned of."""
        return [each.filename for each in self._found if each.category is CtxCompressWarning]

    def clear(self) -> None:
        self._found.clear()


@pytest.fixture
def warned() -> Iterator[Warned]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield Warned(found)
