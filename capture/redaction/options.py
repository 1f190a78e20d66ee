"""Finds passwords behind the options of known tools: `sshpass -p HERE`, `mysql -pHERE`, `lftp -u joe,HERE`.

Which option of which tool takes one, and how it is written, is data: `detectors.OPTIONS`. Elsewhere the same letters
mean a port, a path or a parent folder, so an option counts only in the command of its tool. A module of its own because
it is loaded only for a text that holds an option and a tool of one row.
"""

from __future__ import annotations

from capture.redaction import detectors, entropy
from capture.redaction.rules_cache import pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    Span = tuple[int, int, str]

_NAME = r"[a-z\d_-]{0,24}(?:\.exe)?(?=[ \t\\])"
_COMMAND = (
    r"(?:[^\n|;&\"'\\]|\\(?:\n|.)|\"(?:[^\"\\\n]|\\.){0,400}\"|'[^'\n]{0,400}'|[\"'])"
    r"{0,2000}"
)
"""To the end of a command: what is quoted may hold its signs."""
_WRAPPED = r"[ \t](?:[\w./-]{0,80}/)?(?:ssh|scp|sftp|rsync|git|autossh)[ \t]"
_QUOTED = r"\\*(?:\"([^\"\n]{3,200}?)\\*\"|'([^'\n]{3,200}?)\\*'"
_WORD = rf"(?:[ \t]*=|(?:[ \t]|\\\n)+)?{_QUOTED}|(?![-\"'])([^\s\"'`|;&<>()]{{3,200}}))"
_GLUED = (
    rf"(?!(?:rint|ath|erm|rune|edantic|ort|rotocol|ipe|lugin)[\w-]*){_QUOTED}"
    r"|(?![-=\"'])([^\s\"'`|;&<>()]{3,200}))"
)
_AFTER = r"[ \t=]*\\*[\"']?[^\s:%%,\"'\\]{1,80}%s([^\s\"'`]{3,200})"
_PORTS = r"[\d.:]*:\d+(?:/\w+)?\Z"
_READS = {detectors.WORD: _WORD, detectors.GLUED: _GLUED, **{sign: _AFTER % sign for sign in ":%,"}}
_LETTER = len(" -p ")
SOURCES = (_NAME, _COMMAND, _WRAPPED, _PORTS, *_READS.values())


def find(text: str, low: str) -> list[Span]:
    """(start, end, kind) of every password behind an option of its tool."""
    spans: list[Span] = []
    for option, rows in detectors.OPTIONS:
        if option in text:
            for how, tools in rows:
                for tool in tools:
                    spans += _of_tool(text, low, option, how, tool)
    return spans


def _of_tool(text: str, low: str, option: str, how: str, tool: str) -> list[Span]:
    spans: list[Span] = []
    at = low.find(tool)
    while at >= 0:
        last = at + len(tool)
        if _begins(low, at) and (name := pattern(_NAME).match(low, last - tool.endswith(" "))):
            last = _end(text, name.end(), tool)
            place = text.find(option, name.end(), last)
            while place >= 0:
                if span := _value(text, place + len(option), last, how):
                    spans.append(span)
                # one letter may be an option of a command that this one starts, as well
                place = text.find(option, place + 1, last) if len(option) > _LETTER else -1
        at = low.find(tool, last)
    return spans


def _begins(low: str, at: int) -> bool:
    """A tool's name is a word, and not what a container is called."""
    return at == 0 or not (low[at - 1].isalnum() or low[at - 1] in "_-." or low.startswith("--name", max(0, at - 7)))


def _end(text: str, at: int, tool: str) -> int:
    """Where the command ends: before the one that it starts, where that is what its tool is for."""
    matched = pattern(_COMMAND).match(text, at)
    end = matched.end() if matched else at
    wrapped = pattern(_WRAPPED).search(text, at, end) if tool == "sshpass " else None
    return wrapped.start() + 1 if wrapped else end


def _value(text: str, at: int, end: int, how: str) -> Span | None:
    matched = pattern(_READS[how]).match(text, at, end)
    if matched is None:
        return None
    start, stop = matched.span(matched.lastindex or 1)
    value = text[start:stop].rstrip("\\")
    if value[0] in "$%{<[*(`" or "[REDACTED" in value or "..." in value or "xxx" in value.lower():
        return None
    if pattern(_PORTS).match(value) or (how != detectors.GLUED and (entropy.stands_in(value) or "://" in value)):
        return None
    return start, start + len(value), "password"
