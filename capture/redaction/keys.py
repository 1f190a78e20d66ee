"""Finds private keys as tools print them: PEM blocks in any decoration or encoding, hex dumps, PuTTY files.

A module of its own because it is loaded only for a text that holds one of their signs. Each reader walks forwards,
line by line, so its work grows with the length of the text.
"""

from __future__ import annotations

from capture.redaction import entropy
from capture.redaction.detectors import KEY_DUMPED, KEY_ENCODED, KEY_FRAME, KEY_PUTTY
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

KIND = "private-key"
_BEGIN = r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_END = r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
_BODY = (
    r"(?:\s|\\+[nr]|[\"'+|>#*,]|(?:\^M)?\$(?=[\s\\])|\d+[\t→:|])*"
    r"(?:[A-Z][A-Za-z-]{3,20}: |[A-Za-z0-9+/=]{1,3}\Z|[A-Za-z0-9+/=]{4,}(?![ (.;]))"
)
_RUN = r"[A-Za-z0-9+/]{1,16000}={0,2}"
_LONG_RUN = r"[A-Za-z0-9+/]{32,16000}={0,2}"
# What a listing, a quotation, a diff, a search or an escape puts before a line and after it.
_BEFORE = r"(?:[\w./-]{1,80}(?::|-(?=\d)))?(?:[ \t]{0,12}\d{1,6}[ \t]?[\t→:|-])?[>|│┃#*,\"' \t+-]{0,20}"
_AFTER = r"(?:\^M)?\$?[\"', \t|│┃]{0,80}\\?"
_GAP = _AFTER + r"(?:\\{1,4}[nr]|\n){1,4}" + _BEFORE
_ENDS = r"(?=" + _AFTER + r"(?:\\{1,4}[nr]|\n|\Z)|[\"'`<\\])"
_MARKS = _BEFORE + r"\Z"
_CUT_LINE = _BEFORE + r"[A-Za-z0-9+/]{4,}+={0,2}" + _AFTER + r"\Z"
_COUNT = KEY_PUTTY + r"[ \t]{0,4}(\d{1,4})"
_DUMP = (
    r"[>|#+ \t]{0,12}(?:[0-9a-f]{4,16}(?::[ \t]|[ \t]{1,3})[ \t]{0,2})?"
    r"((?:(?:0x)?[0-9a-f]{2,4},?[ \t]{1,2}){0,32}(?:0x)?(?:[0-9a-f]{2}){1,6000},?)(?![^\s|$^,])[^\n]{0,80}"
)
_LETTERS = r"[>|#+ \t]{0,12}(?:[0-7]{7}[ \t])?((?:[ \t]{1,8}(?:\\[0nrt]|[!-~])){1,16})[ \t$]{0,8}\Z"
_OCTAL = r"[>|#+ \t]{0,12}(?:[0-7]{7}[ \t])((?:[ \t]{0,3}[01][0-7]{5}){1,8})[ \t$]{0,8}\Z"
SOURCES = (
    _BEGIN, _END, _BODY, _RUN, _LONG_RUN, _GAP, _ENDS, _MARKS, _CUT_LINE, _COUNT, _DUMP, _LETTERS, _OCTAL
)  # fmt: skip

_POOR = 10
"""So few different characters are no key but what stands for one, unless its frame says that it is one."""
_SHORT = 64
"""Characters of a frame's body that is none."""
_LONGEST = 65_536
"""Characters of a frame whose body is not read as one."""
_MOST_LINES = 1_000


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of every private key."""
    spans = _framed(text) if KEY_FRAME in text else []
    spans += _putty(text) if KEY_PUTTY in text else []
    return spans + _encoded(text) + _dumped(text, low)


def _framed(text: str) -> list[Span]:
    begins = [matched.span() for matched in pattern(_BEGIN).finditer(text)]
    ends = [matched.span() for matched in pattern(_END).finditer(text)]
    spans: list[Span] = []
    if ends and "-----BEGIN " not in text[: ends[0][0]]:
        spans.append((_head_of_cut(text, ends[0][0]), ends[0][1], KIND))
    last = at = 0
    for number, (start, head) in enumerate(begins):
        while at < len(ends) and ends[at][0] < head:
            at += 1
        if start < last:
            continue
        following = begins[number + 1][0] if number + 1 < len(begins) else len(text)
        foot, stop = ends[at] if at < len(ends) else (len(text), len(text))
        if pattern(_BODY).match(text, head):
            if foot < stop and _stands_for_key(text[head:foot]):
                continue
        elif foot > following or not (stop := _decorated(text, head, foot, stop)):
            continue
        last = stop
        spans.append((start, last, KIND))
    return spans


def _stands_for_key(body: str) -> bool:
    """Nothing but one letter or two, dots, or a few letters: a key is long, whatever repeats in it."""
    if len(set(body)) > _POOR:
        return False
    return len(body) < _SHORT or "..." in body or "\u2026" in body or len(set(filter(str.isalnum, body))) <= 2


def _decorated(text: str, head: int, foot: int, stop: int) -> int:
    """The end of a key whose lines are decorated as nobody foresaw: what was drawn stands in the frame."""
    first = _drawn_run(text, head, min(foot, head + _LONGEST))
    if not first:
        return 0
    return stop if foot < stop else lines(text, *first)[-1][1]


def _drawn_run(text: str, start: int, end: int) -> tuple[int, int] | None:
    for number, matched in enumerate(pattern(_LONG_RUN).finditer(text, start, end)):
        if _is_body(matched.group()):
            return matched.span()
        if number > 20:
            break
    return None


def _is_body(run: str) -> bool:
    """Base64 of what was drawn, no path and no long name."""
    kinds = any(char.isdigit() for char in run) + any(map(str.isupper, run)) + any(map(str.islower, run))
    return kinds == 3 and len(set(run)) > _POOR and entropy.is_random(run[:200])


def lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A run of base64 and those on the lines that follow it: the first that is shorter is the last."""
    width = end - start
    runs = [(start, end)]
    while end < len(text):
        gap = pattern(_GAP).match(text, end)
        run = pattern(_RUN).match(text, gap.end()) if gap else None
        if run is None or len(run.group()) > width + 2 or not pattern(_ENDS).match(text, run.end()):
            break
        end = run.end()
        runs.append(run.span())
        if len(run.group()) < width - 2:
            break
    return runs


def _head_of_cut(text: str, end: int) -> int:
    """Where the lines of a key begin whose head was cut off; words may stand before the first of them."""
    line = text.rfind("\n", 0, end) + 1
    begin = line if pattern(_MARKS).match(text[line:end]) else end
    start = begin
    while start > 0:
        line = text.rfind("\n", 0, start - 1) + 1
        body = text[line:start].rstrip("\n")
        if not pattern(_CUT_LINE).match(body):
            shown = body.rstrip("\"', \t|│┃\\").removesuffix("$").removesuffix("^M").rstrip("=")
            head = len(shown.rstrip(_BASE64))
            if len(shown) - head >= 32 and _is_body(shown[head:]):
                start = line + head
            break
        start = line
    return start if start < begin else end


def _putty(text: str) -> list[Span]:
    spans: list[Span] = []
    last = 0
    for matched in pattern(_COUNT).finditer(text):
        gap = pattern(_GAP).match(text, matched.end())
        run = pattern(_RUN).match(text, gap.end()) if gap else None
        if run is None or run.start() < last:
            continue
        last = lines(text, *run.span())[-1][1] if int(matched[1]) > 1 else run.end()
        if last - run.start() >= 16 and len(set(text[run.start() : last])) > _POOR:
            spans.append((run.start(), last, KIND))
    return spans


_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def _encoded(text: str) -> list[Span]:
    spans: list[Span] = []
    for sign in KEY_ENCODED:
        last = 0
        at = text.find(sign)
        while at >= 0:
            before = text[max(last, at - 4_000) : at]
            start = at - (len(before) - len(before.rstrip(_BASE64)))
            run = pattern(_RUN).match(text, start)
            runs = lines(text, start, run.end()) if run else [(at, at + 1)]
            last = runs[-1][1]
            if _holds_key("".join(text[begin:end] for begin, end in runs[:_MOST_LINES])[:_LONGEST]):
                spans.append((start, last, KIND))
            at = text.find(sign, max(last, at + 1))
    return spans


def _holds_key(encoded: str) -> bool:
    """Does base64 say PRIVATE KEY once it is decoded? Its beginning may have been cut: each shift is tried."""
    from binascii import Error, a2b_base64  # on use: start-up stays short

    for shift in range(4):
        kept = encoded[shift:].rstrip("=")
        try:
            said = a2b_base64(kept[: len(kept) // 4 * 4])
        except (Error, ValueError):
            continue
        if b"-----BEGIN " in said and b"PRIVATE KEY" in said:
            return True
    return False


def _dumped(text: str, low: str) -> list[Span]:
    """Bytes as xxd, hexdump and od show them."""
    spans: list[Span] = []
    for sign in KEY_DUMPED:
        last = 0
        at = low.find(sign)
        while at >= 0:
            start = max(last, low.rfind("\n", max(0, at - 200), at) + 1)
            source = _LETTERS if sign[0] == "-" else _OCTAL if sign[:2] == "02" else _DUMP
            rows, end = _rows(text if source is _LETTERS else low, source, start)
            if rows and _says_key(rows, sign):
                spans.append((start, end, KIND))
            last = max(end, len(low) if (last := low.find("\n", at)) < 0 else last)
            at = low.find(sign, last)
    return spans


def _rows(text: str, source: str, start: int) -> tuple[list[str], int]:
    """The cells of the lines of a dump, and where its last line ends."""
    rows: list[str] = []
    end = start
    while start < len(text):
        stop = len(text) if (stop := text.find("\n", start)) < 0 else stop
        matched = pattern(source).match(text[start : min(stop, start + 16_000)])
        if matched is None:
            break
        rows.append(matched[1])
        end, start = stop, stop + 1
    return rows, end


def _says_key(rows: list[str], sign: str) -> bool:
    cells = [cell for row in rows for cell in row.replace("0x", "").replace(",", " ").split()]
    if sign[0] == "-":
        return "PRIVATEKEY" in "".join(cells)
    if sign[:2] == "02":
        return b"PRIVATE KEY" in b"".join(int(cell, 8).to_bytes(2, "little") for cell in cells)
    step = -1 if sign.endswith("422d") else 1
    return b"PRIVATE KEY" in b"".join(bytes.fromhex(cell)[::step] for cell in cells if len(cell) % 2 == 0)
