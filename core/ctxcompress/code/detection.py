"""Source code told from prose and Markdown, in texts that begin and end anywhere."""

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

__all__ = [
    "code_lines",
    "code_share",
    "continues_in_next",
    "end_of_cut_text",
    "is_code_name",
    "looks_like_code",
    "source_language",
]

_SAMPLE = 6_000
_LONGEST_LINES = 200
"""Characters a line, on average, that no code reaches and that paragraphs of one line each do."""
_CODE_ENDINGS = frozenset(
    "bash c cc cpp cs css cu cxx dart ex exs go gradle h hpp hs java jl js json jsonl jsx kt kts lua m mjs mm php pl "
    "proto ps1 py pyi pyx r rb rs scala sh sol sql swift tf toml ts tsx vb vue yaml yml zig zsh".split()
)
_LANGUAGES = {
    "python": "py pyi pyx",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx vue",
    "java": "java",
    "go": "go",
    "rust": "rs",
    "c": "c h",
    "cpp": "cc cpp cxx cu hpp hh hxx",
    "csharp": "cs",
    "kotlin": "kt kts",
    "scala": "scala",
    "swift": "swift",
    "dart": "dart",
    "php": "php",
    "ruby": "rb",
    "shell": "sh bash zsh",
    "perl": "pl pm",
    "r": "r",
    "julia": "jl",
    "elixir": "ex exs",
    "json": "json jsonl ipynb",
    "yaml": "yaml yml",
    "toml": "toml tf",
    "sql": "sql",
    "lua": "lua",
    "haskell": "hs",
}
_OF_ENDING = {ending: language for language, endings in _LANGUAGES.items() for ending in endings.split()}
_FRAGMENT = re.compile(r"#[^.#]*$")
"""Of an address: what says which part of a file it is, such as `#L10-L42`."""
_OF_SHEBANG = re.compile(r"\#![^\n]*\b(?P<name>python|node|ruby|perl|bash|zsh|sh)")
_SHEBANGS = {"node": "javascript", "bash": "shell", "zsh": "shell", "sh": "shell"}
_SIGNS = (
    ("python", re.compile(r"^[ \t]*(?:(?:def|class) \w+[^\n]{0,200}:[ \t]*$|else:|try:|elif |except\b)|\bself\.\w|"
                          r"^from [\w.]+ import ", re.MULTILINE)),
    ("rust", re.compile(r"\bfn \w+|\blet mut |\bimpl\b|&mut |::<|^use \w+::", re.MULTILINE)),
    ("go", re.compile(r"^func |:=|^package \w+$|\bchan\b|\bdefer ", re.MULTILINE)),
    ("java", re.compile(r"^import [\w.]+;|\b(?:public|private|protected) (?:static |final |abstract )*[\w<>\[\]]+ \w+|"
                        r"@Override", re.MULTILINE)),
    ("cpp", re.compile(r"\bstd::|\btemplate ?<|^#include <\w+>$|\bnamespace \w+ ?\{|\w::~?\w+\(", re.MULTILINE)),
    ("c", re.compile(r"^#(?:include|define|ifdef|ifndef|endif)\b|^\w[\w *]{1,60}\([^;\n]{0,200}\)[ \t]*\{?$|->\w",
                     re.MULTILINE)),
    ("typescript", re.compile(r"\binterface \w+ \{|: (?:string|number|boolean|void|any)\b|^export type |\bas const\b",
                              re.MULTILINE)),
    ("javascript", re.compile(r"=> ?[{(\w]|\bfunction\b|\b(?:const|let|var) \w+ =|===|\brequire\(|^export ",
                              re.MULTILINE)),
    ("ruby", re.compile(r"^[ \t]*(?:end|def \w+[?!]?|module \w+|attr_\w+ :\w+)[ \t]*$|\bdo \|\w+\|", re.MULTILINE)),
    ("shell", re.compile(r"^[ \t]*(?:fi|done|esac|then|set -\w+)[ \t]*$|\$\{\w+\}|\[\[ ", re.MULTILINE)),
)  # fmt: skip
"""What each language has and the others mostly do not, in the order in which equal counts decide."""
_PROSE_ENDINGS = frozenset(("adoc", "htm", "html", "markdown", "md", "mdx", "org", "pdf", "rst", "tex", "text", "txt"))

_CODE = r"""
      [@#{}()\[\]*] | // | /\* | "{3} | '{3} | <\?php | \$\w+[ \t]*=                         # how a line may begin
    | (?: def | class | import | return | raise | func | fn | let | const | var | public | private | protected
        | static | package | use | struct | impl | enum | interface | yield | await )[ ]\S
    | (?: pass | break | continue | else | try | finally | end | return | do | then | done | fi | esac
        )[ ]*[:;{]?[ \t\r]*$
    | from[ ][\w.]+[ ]import\b
    | [\w.$\[\]"'*&>-]+(?:,[ ]?[\w.]+)*[ ]*(?:[-+*/|&%:]?=)[ ]\S                           # an assignment
    | "[^"\n]*"[ ]*:                                                                       # a key of JSON
    | (?>[^\n]*[^ \t\r\n])                                                                 # how a line may end
      (?: (?<=[{};(\[\])]) | (?<=[{};(\[\]]["',]) | (?<=\)[:,]) | (?<=["'\d\]}],) )
    | (?:if|elif|for|while|with|except|async|switch|case|match|when)\b[^\n]*(?:[:{]|;[ ]*(?:do|then))[ \t\r]*$
"""
"""What a line of code has, after its indentation."""
_MARKUP = r"""
      (?: [-+*] | \d+[.)] | \#{1,6} )[ \t]+\S | \*\*\w        # a list item, a heading, bold text
    | [\[(][\w:., -]+[\])]:?[ ]\S                           # a label in brackets: of a reference, a log line
    | [^\n]*\]\((?:https?:|\#)                              # a link
"""
_LINES = re.compile(rf"\s*+(?:({_CODE})|\S)[^\n]*+", re.VERBOSE | re.MULTILINE)
_LINES_OR_MARKUP = re.compile(rf"\s*+(?:({_MARKUP})|({_CODE})|\S)[^\n]*+", re.VERBOSE | re.MULTILINE)
"""Each line that is not blank, and what tells what it is."""
_TILDE_FENCE = re.compile(r"^~~~+[ \t]*[a-zA-Z]", re.MULTILINE)


def is_code_name(name: str | None) -> bool:
    """Whether a file name, path or title has the ending of a programming language's or of a data format's files."""
    return _ending(name) in _CODE_ENDINGS


def source_language(text: str, name: str | None = None) -> str:
    """The language that source code is in, in lower case: "python", "cpp"; "" if it cannot be told.

    name: a file name, path or title. Its ending decides if it is a programming language's, else a first line that
    names an interpreter, else what is common in the text.
    """
    known = _OF_ENDING.get(_ending(name))
    if known:
        return known
    if text.lstrip()[:1] in ("{", "[") and '":' in text[:_SAMPLE]:
        return "json"
    shebang = _OF_SHEBANG.match(text)
    if shebang:
        return _SHEBANGS.get(shebang["name"], shebang["name"])
    sample = text[:_SAMPLE]
    counts = {language: len(signs.findall(sample)) for language, signs in _SIGNS}
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else ""


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
    if ending not in _CODE_ENDINGS:
        return code_share(text) > 0.6
    # A module may begin with pages of documentation, or be a table of values.
    parts = (text, text[-_SAMPLE:]) if len(text) > _SAMPLE else (text,)
    share = max(code_share(part, markup=False) for part in parts)
    return share > 0.2 or (share > 0.05 and _has_signs(text, _OF_ENDING.get(ending)))


def _has_signs(text: str, language: str | None) -> bool:
    """Whether a text has what a language has and others mostly do not, more than once."""
    return any(name == language and len(signs.findall(text[:_SAMPLE])) > 1 for name, signs in _SIGNS)


def code_share(text: str, *, markup: bool = True) -> float:
    """Share of the lines of `text` (of its beginning, if it is long) that look like code, 0 to 1.

    markup: whether it may be Markdown, so that list items, headings and links, which look like code, tell nothing.
    """
    if not markup:
        code, others = code_lines(text)
        return code / (code + others) if code else 0.0
    lines = _LINES_OR_MARKUP.findall(text[:_SAMPLE].rstrip())
    markups = sum(item != "" for item, _ in lines)
    code = sum(sign != "" for _, sign in lines)
    return code / max(len(lines) - markups, len(lines) / 2) if lines else 0.0


def code_lines(text: str) -> tuple[int, int]:
    """How many lines of `text` (of its beginning, if it is long) look like code, and how many do not, blank ones
    apart."""
    signs = _LINES.findall(text[:_SAMPLE].rstrip())
    others = signs.count("")
    return len(signs) - others, others


def _ending(name: str | None) -> str:
    if not name:
        return ""
    file = _FRAGMENT.sub("", name.rsplit("/", 1)[-1])
    stem, _, ending = file.rpartition(".")
    return ending.lower() if stem else ""


_QUOTES = re.compile(r"\"{3}|'{3}")
_SURE = 4
"""Lines that must speak against it before a chunk does not begin as the one before ends."""
_PART_SAMPLE = 600
"""Characters of each part that are looked at."""
_CHANGES = 5
"""How many times quotes may have changed the side before nothing more is learned."""
_EXAMPLE = 4
"""Lines of prose that an example of an interactive session stands for: docstrings have them."""
_OPENING = re.compile(r"\s*+[rRbBuUfF]?(?:\"{3}|'{3})[^\s\"']")
"""A docstring that is one with its first line: no end of another."""
_GOES_ON = re.compile(r"[:{(\[,\\=+]$|->$|\b(?:and|or|not|in)$")
_PART = re.compile(r"[ \t]*[\"')\]}.]")
"""How the rest of an expression begins."""
_COMMENT = re.compile(r"[ \t]*(?:#|//|\*)")


class _Reading(NamedTuple):
    """How a chunk of Python reads if it begins in a docstring, or outside of one."""

    likely: int
    """Lines that look as they should, code outside and no code inside, less those that do not."""
    ends_within: bool

    @classmethod
    def of(
        cls, text: str, quotes: Sequence[re.Match[str]], excess: Callable[[int, int], int], *, within: bool
    ) -> "_Reading":
        """quotes: all of the text's. excess: `_excess` of a part of the text, by its offsets."""
        open_ = quotes[0].group() if within and quotes else '"' * 3 if within else ""
        likely = start = changes = 0
        for quote in quotes:
            if open_ not in ("", quote.group()):
                continue  # the other quotes, within a docstring
            if changes < _CHANGES:
                likely += excess(start, quote.start()) * (-1 if open_ else 1)
            open_, start, changes = ("" if open_ else quote.group()), quote.end(), changes + 1
        if changes < _CHANGES:
            likely += excess(start, len(text)) * (-1 if open_ else 1)
        return cls(likely + (0 if within else 10 * (_OPENING.match(text) is not None)), open_ != "")


def _excess(text: str) -> int:
    """Lines that look like code, less those that do not."""
    code, others = code_lines(text[:_PART_SAMPLE])
    return code - others - _EXAMPLE * text.count(">>> ")


def end_of_cut_text(text: str, language: str) -> int:
    """Where the docstring or comment ends that a chunk of source code begins in the middle of; 0 for none."""
    if language == "python":
        first = _QUOTES.search(text)
        return first.end() if first and text[: first.start()].strip() and _python(text, None)[0] else 0
    closing = text.find("*/")
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def continues_in_next(texts: Sequence[str], language: str) -> Iterator[bool]:
    """Of each of several chunks of one source file, in their order, whether the next one may be what follows it in the
    file: a docstring that one breaks off goes on in the other, a block that one opens has a body there, and where
    nothing is open nothing is indented deeper."""
    within = None
    for number, after in enumerate(texts):
        begins, ends = _python(after, within) if language == "python" else _others(after)
        if number:
            yield begins == within and (begins or _is_indented_well(texts[number - 1], after))
        within = ends


def _python(text: str, expected: bool | None) -> tuple[bool, bool]:
    """(whether a chunk begins in the middle of a docstring, whether it ends so). expected: whether the one before it
    ends so, if there is one."""
    if not expected and not _QUOTES.search(text):
        return False, False  # prose throughout would be the middle of a docstring, after some of its beginning
    excess = functools.cache(lambda start, end: _excess(text[start:end]))
    quotes = list(_QUOTES.finditer(text))
    outside, inside = (_Reading.of(text, quotes, excess, within=within) for within in (False, True))
    bias = 0 if expected is None else _SURE if expected else -_SURE
    begins = inside.likely + 2 * bias > outside.likely and (expected is True or not _QUOTES.match(text))
    return begins, (inside if begins else outside).ends_within


def _others(text: str) -> tuple[bool, bool]:
    """The same of comments between /* and */."""
    return end_of_cut_text(text, "") > 0, text.rfind("/*") > text.rfind("*/")


def _is_indented_well(before: str, after: str) -> bool:
    last, first = _last_line(before), next((line for line in after.split("\n") if line.strip()), "")
    if _COMMENT.match(last) or _PART.match(first) or _indent(first) <= _indent(last):
        return True
    code = last.partition(" #")[0].rstrip()
    return _GOES_ON.search(code) is not None or sum(map(code.count, "([{")) > sum(map(code.count, ")]}"))


def _last_line(text: str) -> str:
    bare = text.rstrip()
    return bare[bare.rfind("\n") + 1 :]


def _indent(line: str) -> int:
    bare = line.lstrip(" \t")
    return len(line[: len(line) - len(bare)].expandtabs(8))
