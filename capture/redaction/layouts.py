"""Finds secrets whose label stands in the table cell before or above, or on the line above.

A module of its own because it is loaded only for a text of several lines or cells that holds one of the words.
"""

from __future__ import annotations

from capture.redaction import detectors
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

_LABEL = (
    r"(?:(?:the|my|our|new|old|root|admin|user|default|temp|temporary|initial|wifi|wi-fi|db|database|login|sudo|api|secret"
    r"|access|auth|client|private|master|app|bot|ssh|ftp|smtp|mail|email|vpn)[ _-]?){0,3}"
    r"(?:passwords?|passphrase|passcode|passwd|pwd|pw|pass|tokens?|secrets?|api[ _-]?keys?|secret[ _-]?keys?"
    r"|access[ _-]?keys?|private[ _-]?keys?|cred(?:ential)?s?)"
)
_HTML = (
    r"(?i)>[ \t]*" + _LABEL + r"[ \t]*:?[ \t]*</t[dh]>\s{0,20}"
    r"(?:</tr>\s{0,20}(?:</thead>\s{0,20}<tbody>\s{0,20})?<tr[^>\n]{0,80}>\s{0,20})?"
    r"<t[dh][^>\n]{0,80}>(?:<\w{1,8}>)?\s{0,10}([^\s<]{6,400})"
)
_BARE = r"(?i)" + _LABEL + r"\Z"
_LAST = r"(?i)(?:\A|[ \t(])" + _LABEL + r"(?:[ \t](?:below|follows|here|is|now))*[ \t]?[:.]?\Z"
_HEAD = r"[\w .*/-]{1,30}([,;\t])[\w .*/-]{1,30}(?:\1[\w .*/-]{1,30}){0,20}\r?\Z"
SOURCES = (_HTML, _BARE, _LAST, _HEAD)

_MARKS = " \t*_`\"'>#:：-•"
_RULES = "-+=─━═┼╪╬├┤╞╡╟╢╠╣┣┫╋ \t"
"""What a line between rows is made of."""
_ROWS = 60
"""Rows of a table, and characters of a line, that are read."""
_LINE = 1_000


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of what such labels name."""
    from capture.redaction import spoken  # on use: start-up stays short

    spans = [*_html(text, low), *_listed(text)]
    column: list[tuple[int, str]] = []
    above, said, blank, left, at = "", "", 0, 0, 0
    for line in text.split("\n"):
        if len(line) <= _LINE:
            sign = _sign(line)
            if above and line.strip():
                spans += _below(line, at, above)
            elif said and spoken.drawn(line.strip()):
                spans += _below(line, at, said)
            if sign:
                left -= 1
                if column and left > 0:
                    spans += _under(line, at, sign, column)
                found = _kinds(line, sign)
                if found:
                    spans += _beside(line, at, sign, found)
                    column, left = (found, _ROWS) if not column else (column, left)
            elif line.strip(_RULES) or not line.strip():
                column = []
            if line.strip():
                above, blank = ("" if sign else _kind(line)), 0
                said = "" if sign or above else _ending(line)
            else:
                blank += 1
                above = above if blank < 2 else ""
        at += len(line) + 1
    return spans


def _sign(line: str) -> str:
    """What parts the cells of a row, if anything does."""
    for sign in "|│┃║":
        if sign in line:
            return sign
    return ""


def _kind(cell: str) -> str:
    """The kind that a cell or line names that is nothing but a label; empty where it is none."""
    name = cell.strip(_MARKS).lower()
    if not 2 <= len(name) <= 60:
        return ""
    if pattern(_BARE).match(name):
        return "key" if "key" in name else "token" if "token" in name else "password"
    for word, kind in detectors.labels(name):
        if kind != "login" and len(name) <= len(word) + 24:
            return kind
    return ""


def _ending(line: str) -> str:
    """The kind of the label that a line ends in (`here is the password`, `password below:`)."""
    said = line[-60:].rstrip()
    if not pattern(_LAST).search(said):
        return ""
    return "key" if "key" in said.lower() else "token" if "token" in said.lower() else "password"


def _listed(text: str) -> Iterator[Span]:
    """Rows under a line of names that commas, semicolons or tabs part, as exports of tables have them."""
    names: list[tuple[int, str]] = []
    sign, at, left = "", 0, 0
    for line in text.split("\n"):
        left -= 1
        if names and left and line.count(sign) >= names[-1][0]:
            yield from _under(line.rstrip("\r"), at, sign, names)
        else:
            names = []
        if not names and len(line) < _ROWS * 5 and (head := pattern(_HEAD).match(line)):
            sign, left = head[1], _ROWS
            names = _kinds(line, sign)
        at += len(line) + 1


def _cells(line: str, sign: str) -> Iterator[tuple[int, str]]:
    at = 0
    for cell in line.split(sign):
        yield at, cell
        at += len(cell) + len(sign)


def _kinds(line: str, sign: str) -> list[tuple[int, str]]:
    """(number, kind) of the cells that are labels."""
    return [(number, kind) for number, (_, cell) in enumerate(_cells(line, sign)) if (kind := _kind(cell))]


def _secret(line: str, begin: int, cell: str, at: int, kind: str) -> Iterator[Span]:  # noqa: ARG001
    """The only word of a cell, where it is a secret."""
    from capture.redaction import spoken  # on use: start-up stays short

    value = cell.strip(" \t").strip("*`\"'") if cell.strip(" \t").strip("*_`\"'").isascii() else ""
    if value and " " not in value and "\t" not in value and (spoken.drawn(value) or spoken.is_secret(value, kind)):
        first = at + begin + cell.find(value)
        yield first, first + len(value), kind


def _beside(line: str, at: int, sign: str, found: list[tuple[int, str]]) -> Iterator[Span]:
    """`| password | HERE |`."""
    cells = [*_cells(line, sign)]
    for number, kind in found:
        for begin, cell in cells[number + 1 : number + 2]:
            yield from _secret(line, begin, cell, at, kind)


def _under(line: str, at: int, sign: str, column: list[tuple[int, str]]) -> Iterator[Span]:
    """The cell of the column that a label heads."""
    cells = [*_cells(line, sign)]
    for number, kind in column:
        if number < len(cells):
            yield from _secret(line, *cells[number], at, kind)


def _below(line: str, at: int, kind: str) -> Iterator[Span]:
    """A line that is nothing but a value, under one that is nothing but a label."""
    bare = line.strip(" \t").lstrip("->•").strip(" \t")
    yield from _secret(line, line.find(bare), bare, at, kind)


def _html(text: str, low: str) -> Iterator[Span]:
    if "</t" in low:
        from capture.redaction import spoken  # on use: start-up stays short

        for matched in pattern(_HTML).finditer(text):
            if spoken.drawn(matched[1]):
                yield (*matched.span(1), "password")
