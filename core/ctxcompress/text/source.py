"""Source code told from prose and Markdown, in texts that begin and end anywhere."""

import re

__all__ = ["code_share", "is_code_name", "looks_like_code"]

_SAMPLE = 6_000
_LONGEST_LINES = 200
"""Characters a line, on average, that no code reaches and that paragraphs of one line each do."""
_CODE_ENDINGS = frozenset(
    "bash c cc cpp cs css cu cxx dart ex exs go gradle h hpp hs java jl js json jsonl jsx kt kts lua m mjs mm php pl "
    "proto ps1 py pyi pyx r rb rs scala sh sol sql swift tf toml ts tsx vb vue yaml yml zig zsh".split()
)
_PROSE_ENDINGS = frozenset(("adoc", "htm", "html", "markdown", "md", "mdx", "org", "pdf", "rst", "tex", "text", "txt"))

_CODE_LINE = re.compile(
    r"""
      [ \t]*(?: [@#{}()\[\]*] | // | /\* | "{3} | '{3} | <\?php | \$\w+\s*= )       # how a line of code may begin
    | [ \t]*(?: def | class | import | return | raise | func | fn | let | const | var | public | private
              | protected | static | package | use | struct | impl | enum | interface | yield | await )[ ]\S
    | [ \t]*(?: pass | break | continue | else | try | finally | end | return | do | then | done | fi | esac
              )[ ]*[:;{]?[ \t]*$
    | [ \t]*from[ ][\w.]+[ ]import\b
    | [ \t]*[\w.$\[\]"'*&>-]+(?:,[ ]?[\w.]+)*[ ]*(?:[-+*/|&%:]?=)[ ]\S                # an assignment
    | [ \t]*"[^"\n]*"[ ]*:                                                            # a key of JSON
    | [^\n]*[{};(\[\]]["',]?[ \t]*$ | [^\n]*\)[:,]?[ \t]*$ | [^\n]*["'\d\]}],[ \t]*$  # how a line of code may end
    | [ \t]*(?:if|elif|for|while|with|except|async|switch|case|match|when)\b[^\n]*(?:[:{]|;[ ]*(?:do|then))[ \t]*$
    """,
    re.VERBOSE,
)
_MARKUP_LINE = re.compile(
    r"""
      [ \t]*(?: (?:[-+*]|\d+[.)]|\#{1,6})[ \t]+\S | \*\*\w )    # a list item, a heading, bold text
    | [ \t]*[\[(][\w:., -]+[\])]:?[ ]\S                         # a label in brackets: of a reference, a log line
    | [^\n]*\]\((?:https?:|\#)                                  # a link
    """,
    re.VERBOSE,
)
_TILDE_FENCE = re.compile(r"^~~~+[ \t]*[a-zA-Z]", re.MULTILINE)


def is_code_name(name: str | None) -> bool:
    """Whether a file name, path or title has the ending of a programming language's or of a data format's files."""
    return _ending(name) in _CODE_ENDINGS


def looks_like_code(text: str, name: str | None = None) -> bool:
    """Whether `text` is source code or data rather than prose or Markdown.

    name: a file name, path or title. Its ending alone decides nothing: an article can be called
    "Node.js"; but it lowers or raises how much the text must look like code.
    """
    ending = _ending(name)
    if ending in _PROSE_ENDINGS or "\n```" in text or text.startswith("```") or _TILDE_FENCE.search(text):
        return False
    if text.lstrip()[:1] in ("{", "[") and '":' in text[:_SAMPLE]:
        return True
    if len(text) > _LONGEST_LINES * text.count("\n"):
        return False
    code_name = ending in _CODE_ENDINGS
    return code_share(text, markup=not code_name) > (0.2 if code_name else 0.6)


def code_share(text: str, *, markup: bool = True) -> float:
    """Share of the lines of `text` (of its beginning, if it is long) that look like code, 0 to 1.

    markup: whether it may be Markdown, so that list items, headings and links, which look like code, tell nothing.
    """
    lines = [line[:300] for line in text[:_SAMPLE].splitlines() if line and not line.isspace()]
    telling = [line for line in lines if not _MARKUP_LINE.match(line)] if markup else lines
    code = sum(_CODE_LINE.match(line) is not None for line in telling)
    return code / max(len(telling), len(lines) / 2) if lines else 0.0


def _ending(name: str | None) -> str:
    stem, _, ending = (name or "").rsplit("/", 1)[-1].rpartition(".")
    return ending.lower() if stem else ""
