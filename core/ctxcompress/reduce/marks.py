"""What stands for what was cut out: a comment in the language of the code, dots in brackets in prose."""

from dataclasses import dataclass

from ctxcompress.elision import comment_sign

__all__ = ["PROSE", "Marks", "marks_for"]

_COMMENTS = {"#": ("# ", "##", "#\t", "#\n", "#\r"), "--": ("--",), "//": ("//", "/*", "* ", "*/")}
_SCRIPTS = frozenset(("javascript", "typescript", "tsx"))


@dataclass(frozen=True, slots=True)
class Marks:
    """How one language marks a gap."""

    gap: str
    """For what stood between two others."""
    body: str
    """For a whole body, which in Python must not be empty."""
    comments: tuple[str, ...] = ()
    """How lines begin that are nothing but comment."""
    is_script: bool = False
    """Whether the language is JavaScript or TypeScript."""


PROSE = Marks("[…]", "[…]")


def marks_for(language: str) -> Marks:
    """How gaps are marked in source code of this language, as `source_language` calls it."""
    sign = comment_sign(language)
    if language == "python":
        return Marks("# ...", "...", ("#",))
    return Marks(f"{sign} ...", f"{sign} ...", _COMMENTS[sign], language in _SCRIPTS)
