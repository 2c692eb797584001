"""Detection of source code and its language, in texts that may begin and end anywhere in a file.

A chunk of Python with triple quotes is read both ways, as if it began outside of a docstring and inside of one. The
reading wins in which more lines look like what they would be.
"""

import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ctxcompress.code.lexing import LANGUAGES, indent_of
from ctxcompress.lazy_regex import lazy_regex

__all__ = ["code_share", "continues_in_next", "end_of_cut_text", "is_code_name", "looks_like_code", "source_language"]

_SAMPLE = 6_000
_CODE_SHARE = 0.2
"""The share of lines above which a text with the name of source code is code."""
_LONGEST_LINES = 200
"""Average characters of a line. Only prose with a paragraph on each line has more."""
_CODE_EXTENSIONS = frozenset(
    "bash c cc clj cljc cljs cpp cs css cu cxx dart el elm erl ex exs go gql gradle graphql graphqls h hcl hpp hrl hs "
    "java jl js json jsonl jsx kt kts lisp lua m mjs mm php pl proto ps1 py pyi pyx r rb rkt rs scala scm sh sol sql "
    "swift tcl tf tfvars toml ts tsx vb vim vue yaml yml zig zsh".split()
)
_LANGUAGE_BY_EXTENSION = {
    extension: name for name, language in LANGUAGES.items() for extension in language.extensions.split()
}
_FRAGMENT = lazy_regex(r"#[^.#]*$")
"""The fragment of a URL that names a part of a file, such as `#L10-L42`."""
_SHEBANG = lazy_regex(r"\#![^\n]*\b(?P<name>python|node|ruby|perl|bash|zsh|sh)")
_INTERPRETERS = {"node": "javascript", "bash": "shell", "zsh": "shell", "sh": "shell"}
_SIGNS = {language: lazy_regex(signs, re.MULTILINE) for language, signs in (
    ("python", r"\n[ \t]*(?:(?:def|class) \w+[^\n]{0,200}:[ \t]*$|else:|try:|elif |except\b)|self(?<=\bself)\.\w"
     r"|\nfrom [\w.]+ import "),
    ("rust", r"fn(?<=\bfn) \w+|let(?<=\blet) mut |impl(?<=\bimpl)\b|&mut |::<|\nuse \w+::"),
    ("go", r"\nfunc |:=|\npackage \w+$|chan(?<=\bchan)\b|defer(?<=\bdefer) "),
    ("java", r"\nimport [\w.]+;|p(?<=\bp)(?:ublic|rivate|rotected) (?:static |final |abstract )*[\w<>\[\]]+ \w+"
     r"|@Override"),
    ("cpp", r"std(?<=\bstd)::|template(?<=\btemplate) ?<|\n#include <\w+>$|namespace(?<=\bnamespace) \w+ ?\{"
     r"|::(?<=\w::)~?\w+\("),
    ("c", r"\n#(?:include|define|ifdef|ifndef|endif)\b|\n\w[\w *]{1,60}\([^;\n]{0,200}\)[ \t]*\{?$|->\w"),
    ("typescript", r"interface(?<=\binterface) \w+ \{|: (?:string|number|boolean|void|any)\b|\nexport type "
     r"|as(?<=\bas) const\b"),
    ("javascript", r"=> ?[{(\w]|function(?<=\bfunction)\b|(?:const(?<=\bconst)|let(?<=\blet)|var(?<=\bvar)) \w+ ="
     r"|===|require(?<=\brequire)\(|\nexport "),
    ("ruby", r"\n[ \t]*(?:end|def \w+[?!]?|module \w+|attr_\w+ :\w+)[ \t]*$|do(?<=\bdo) \|\w+\|"),
    ("shell", r"\n[ \t]*(?:fi|done|esac|then|set -\w+)[ \t]*$|\$\{\w+\}|\[\[ "),
)}  # fmt: skip
"""Signs of each language that the others mostly lack. Each begins with a literal, or with the line end before it, which
a search skips to. Among equal counts the first language wins."""
_LINE_SIGNS = lazy_regex(
    r"""\n[ \t]*+(?:
    (?P<graphql> (?:extend[ ])?(?:type|input)[ ]\w+(?:[ ]implements[ ][\w &]+)?[ ]\{$
      | scalar[ ]\w+$ | union[ ]\w+[ ]=[ ] | \w+(?:\([^\n()]*+\))?:[ ]\[?
        (?:[A-Z]\w*+!?+\]?! | (?:String|Int|Float|Boolean|ID)\b(?!!)\]?+)
        (?:[ ](?:=|@)[^\n,;]*+)?$ )
    | (?P<hcl> (?:resource|data|variable|module|provider|output)(?:[ ]"[^"\n]*+"){1,2}[ ]\{
      | (?:locals|terraform)[ ]\{ )
    | (?P<nginx> (?:http|events|server|location[ ][^\n{;]*+|upstream[ ]\w+)[ ]?\{$
      | (?:listen|server_name|proxy_\w+|ssl_\w+|access_log|error_log|add_header|try_files|worker_\w+)[ ][^\n;=({]*+;$ )
    | (?P<lisp> \((?:def[\w-]*|ns|let\*?|setq|require|provide|when|cond|lambda|use-package|:require)(?=[ \t\r\n]) )
    | (?P<erlang> -(?:module|export|include|record|define|spec|type|behaviou?r)\( | \w+\([^\n]*\)[ ]->$ )
    | (?P<lua> local[ ](?:function[ ])?\w | end[,)]*+$ | (?:else)?if[ ][^\n{]*?[ ]then$
      | function[ ][\w.:]+\([^\n()]*+\)$ )
    | (?P<tcl> proc[ ][\w:]+[ ]\{ | set[ ][\w:()$]+[ ](?:["$\[{]|-?\d+$) | foreach[ ]\w+[ ][$\[{] | upvar[ ]
      | namespace[ ]eval[ ] | package[ ]require[ ] | lappend[ ] | (?:if|while)[ ]\{ | puts[ ]["$\[] | return[ ][$\[] )
    | (?P<vim> function![ ] | endf(?:unction|or)\b | let[ ][gsbwl]: | autocmd[ ] | [nvi]?noremap[ ] )
    | (?P<haskell> \w+[ ]::[ ] | import[ ]qualified[ ] | module[ ][\w.]+[ ][^\n]*where$ )
    | (?P<sql> (?i:create|alter|drop)[ ](?i:or[ ]replace|table|index|view|function|trigger|type)\b
      | (?i:insert[ ]into)\b | (?i:select)[ ][^\n;({]*$ )
    )""",
    re.VERBOSE | re.MULTILINE,
)
"""Signs of further languages, as lines begin. The languages above win among equal counts."""
_SIGN_OF_CPP = lazy_regex(
    r"^[ \t]*+(?:(?:inline )?namespace\b|template ?<|using \w|(?:public|private|protected):"
    r"|class \w[^\n:({;]*+(?:[{;]|$|:[ \t]*+\w))|\w::~?\w",
    re.MULTILINE,
)
"""What no header of C has."""
_PROSE_EXTENSIONS = frozenset(
    ("adoc", "htm", "html", "markdown", "md", "mdx", "org", "pdf", "rst", "tex", "text", "txt")
)

_CODE = r"""
      [@#{}()\[\]*] | // | /\* | "{3} | '{3} | <\?php | \$\w+[ \t]*=                         # how a line may begin
    | (?>[^\n]*[^ \t\r\n])                                                                 # how a line may end
      (?: (?<=[{};(\[\])])(?<!\w[.!?]\)) | (?<=[{};(\[\]]["',]) | (?<=\)[:,]) | (?<=["'\d\]}],) )
    | (?: def | class | import | return | raise | func | fn | let | const | var | public | private | protected
        | static | package | use | struct | impl | enum | interface | yield | await )[ ]\S
    | (?: pass | break | continue | else | try | finally | end | return | do | then | done | fi | esac
        )[ ]*[:;{]?[ \t\r]*$
    | from[ ][\w.]+[ ]import\b
    | [\w.$\[\]"'*&>-]++(?:,[ ]?[\w.]++)*+[ ]*+(?:[-+*/|&%:]?=)[ ]\S                       # an assignment
    | "[^"\n]*+"[ ]*+:                                                                     # a key of JSON
    | (?:if|elif|for|while|with|except|async|switch|case|match|when)\b[^\n]*(?:[:{]|;[ ]*(?:do|then))[ \t\r]*$
"""
"""A line of code after its indentation."""
_MARKUP = r"""
      (?: [-+] | \*++ | \d+[.)] | \#{1,6} )[ \t]+\S | \*\*\w   # a list item, a heading, bold text
    | [\[(][\w:., -]+[\])]:?[ ]\S                           # a label in brackets: of a reference, a log line
    | [^\n]*\]\((?:https?:|\#)                              # a link
"""
_LINES = lazy_regex(rf"\s*+(?:({_CODE})|\S)[^\n]*+", re.VERBOSE | re.MULTILINE)
_LINES_OR_MARKUP = lazy_regex(rf"\s*+(?:({_MARKUP})|({_CODE})|\S)[^\n]*+", re.VERBOSE | re.MULTILINE)
"""Each line that is not blank, and the sign of what it is."""
_FENCE = lazy_regex(r"\n(?:```|~~~+[ \t]*[a-zA-Z])")


def is_code_name(name: str | None) -> bool:
    """Return whether a file name, path or title has the extension of a programming language or data format."""
    return _extension(name) in _CODE_EXTENSIONS


def source_language(text: str, name: str | None = None) -> str:
    """Return the language of source code in lower case ("python", "cpp"), or "" if it cannot be recognized.

    name: a file name, path or title. The extension decides if it belongs to a language, else a shebang, else the signs
    of languages in the text. Headers of C and of C++ share one extension.
    """
    extension = _extension(name)
    known = _LANGUAGE_BY_EXTENSION.get(extension)
    if known:
        return "cpp" if extension == "h" and _SIGN_OF_CPP.search(text[:_SAMPLE]) else known
    if text.lstrip()[:1] in ("{", "[") and '":' in text[:_SAMPLE]:
        return "json"
    shebang = _SHEBANG.match(text)
    if shebang:
        return _INTERPRETERS.get(shebang["name"], shebang["name"])
    counts = _signs(text)
    best = max(counts, key=counts.__getitem__)
    return best if counts[best] else ""


def looks_like_code(text: str, name: str | None = None) -> bool:
    """Return whether `text` is source code or data rather than prose or Markdown.

    name: a file name, path or title. An extension of code does not decide alone, because an article can be called
    "Node.js". It lowers how much the text must look like code.
    """
    may_be_json = text.lstrip()[:1] in ("{", "[")
    has_long_lines = len(text) > _LONGEST_LINES * text.count("\n")
    if has_long_lines and not may_be_json:
        return False
    extension = _extension(name)
    if extension in _PROSE_EXTENSIONS or _FENCE.search(f"\n{text}"):
        return False
    if may_be_json and '":' in text[:_SAMPLE]:
        return True
    if has_long_lines:
        return False
    if extension not in _CODE_EXTENSIONS:
        return code_share(text) > 0.6
    # A module may begin with pages of documentation, or be a table of values.
    parts = (text, text[-_SAMPLE:]) if len(text) > _SAMPLE else (text,)
    share = max(code / (code + others) if code else 0.0 for code, others in map(code_lines, parts))
    return share > _CODE_SHARE or (share > 0.05 and _signs(text).get(_LANGUAGE_BY_EXTENSION.get(extension, ""), 0) > 1)


def code_share(text: str) -> float:
    """Return the share of lines that look like code, from 0 to 1, in a text that may be Markdown: list items, headings
    and links, which look like code, do not count. Only the beginning of a long text is read."""
    lines = _LINES_OR_MARKUP.findall(text[:_SAMPLE].rstrip())
    markups = sum(item != "" for item, _ in lines)
    code = sum(sign != "" for _, sign in lines)
    return code / max(len(lines) - markups, len(lines) / 2) if lines else 0.0


def code_lines(text: str) -> tuple[int, int]:
    """Return how many lines look like code and how many do not, ignoring blank lines.

    Only the beginning of a long text is read.
    """
    signs = _LINES.findall(text[:_SAMPLE].rstrip())
    others = signs.count("")
    return len(signs) - others, others


def _signs(text: str) -> dict[str, int]:
    """Return how many signs of each language the beginning of a text has."""
    lines = f"\n{text[:_SAMPLE]}"
    found = {language: len(signs.findall(lines)) for language, signs in _SIGNS.items()}
    return {**found, **Counter(match.lastgroup or "" for match in _LINE_SIGNS.finditer(lines))}


def _extension(name: str | None) -> str:
    if not name:
        return ""
    file = name.rsplit("/", 1)[-1]
    if "#" in file:
        file = _FRAGMENT.sub("", file)
    stem, _, extension = file.rpartition(".")
    return extension.lower() if stem else ""


_MARKS = ('"' * 3, "'" * 3)
_QUOTES = tuple((mark, lazy_regex(mark)) for mark in _MARKS)
"""Each alone: a pattern without alternatives is found several times as fast."""
_SURE_LINES = 4
"""Number of lines of evidence needed to assume that a chunk does not continue the one before."""
_PART_SAMPLE, _MOST_CHANGES = 600, 5
"""Characters that are read of a part between quotes, and the most changes between docstring and code."""
_EXAMPLE_LINES = 4
"""Number of prose lines that the prompt of an interactive session counts for, because docstrings have such examples."""
_OPENING_DOCSTRING = lazy_regex(r"\s*+[rRbBuUfF]?(?:\"{3}|'{3})[^\s\"']")
"""The opening quotes of a docstring with text on the same line, which cannot be closing quotes."""
_CONTINUATION = lazy_regex(r"[:{(\[,\\=+]$|->$|\b(?:and|or|not|in)$")
_EXPRESSION_REST = lazy_regex(r"[ \t]*+[\"')\]}.]")
"""The beginning of the rest of an expression."""
_COMMENT = lazy_regex(r"[ \t]*+(?:#|//|\*)")


def end_of_cut_text(text: str, language: str) -> int:
    """Return the end of the docstring or comment that a chunk of source code begins inside of, or 0."""
    if language == "python":
        first = next(iter(_quotes(text)), None)
        return first.end() if first and text[: first.start()].strip() and _docstring_state(text, None)[0] else 0
    closing = text.find("*/")
    return closing + 2 if closing >= 0 and text.find("/*", 0, closing) < 0 else 0


def continues_in_next(texts: Sequence[str], language: str) -> Iterator[bool]:
    """Yield for each chunk but the last whether the next chunk may follow it directly in the file.

    It may if it continues an open docstring, has the body of an open block, and is not indented deeper when nothing is
    open. texts: chunks of one source file, in order.
    """
    within = None
    for number, after in enumerate(texts):
        in_comment = end_of_cut_text(after, "") > 0, after.rfind("/*") > after.rfind("*/")
        begins, ends = _docstring_state(after, within) if language == "python" else in_comment
        if number:
            yield begins == within and (begins or _is_indented_well(texts[number - 1], after))
        within = ends


def _quotes(text: str) -> Sequence[re.Match[str]]:
    found = [match for mark, quotes in _QUOTES if mark in text for match in quotes.finditer(text)]
    return sorted(found, key=re.Match.start)


def _docstring_state(text: str, expected: bool | None) -> tuple[bool, bool]:
    """Return whether a chunk of Python begins inside a docstring, and whether it ends inside one.

    expected: whether the chunk before it ends inside a docstring, or None for the first chunk.
    """
    quotes = _quotes(text)
    if not expected and not quotes:
        return False, False  # without quotes, only the chunk before can tell
    excess = functools.cache(lambda start, end: _excess(text[start:end]))
    outside, inside = (_reading(text, quotes, excess, within=within) for within in (False, True))
    bias = 0 if expected is None else _SURE_LINES if expected else -_SURE_LINES
    begins = inside[0] + 2 * bias > outside[0] and (expected is True or not text.startswith(_MARKS))
    return begins, (inside if begins else outside)[1]


def _excess(text: str) -> int:
    """Return the number of lines that look like code minus those that do not."""
    code, others = code_lines(text[:_PART_SAMPLE])
    return code - others - _EXAMPLE_LINES * text.count(">>> ")


def _reading(
    text: str, quotes: Sequence[re.Match[str]], excess: Callable[[int, int], int], *, within: bool
) -> tuple[int, bool]:
    """Read a chunk from inside a docstring, or from outside. Return how many more lines look like what they would be
    than do not, and whether it ends inside one. excess: `_excess` of the part between two offsets."""
    open_ = quotes[0][0] if within and quotes else _MARKS[0] if within else ""
    likely = 0 if within else 10 * (_OPENING_DOCSTRING.match(text) is not None)
    start = changes = 0
    for quote in quotes:
        if open_ not in ("", quote[0]):
            continue  # quotes of the other kind inside a docstring
        if changes < _MOST_CHANGES:
            likely += excess(start, quote.start()) * (-1 if open_ else 1)
        open_, start, changes = ("" if open_ else quote[0]), quote.end(), changes + 1
    if changes < _MOST_CHANGES:
        likely += excess(start, len(text)) * (-1 if open_ else 1)
    return likely, open_ != ""


def _is_indented_well(before: str, after: str) -> bool:
    last = before.rstrip().rpartition("\n")[2]
    first = next((line for line in after.split("\n") if line.strip()), "")
    if _COMMENT.match(last) or _EXPRESSION_REST.match(first) or indent_of(first) <= indent_of(last):
        return True
    code = last.partition(" #")[0].rstrip()
    return _CONTINUATION.search(code) is not None or sum(map(code.count, "([{")) > sum(map(code.count, ")]}"))
