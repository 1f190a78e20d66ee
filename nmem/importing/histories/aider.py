"""Aider's `.aider.chat.history.md`: one Markdown file a project, with a heading where each session began.

`#### ` stands before what was typed, `> ` before what aider says, two spaces behind both: the model's own headings have
none. Only the start of a session has a time: what follows is put a second apart.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from capture.clients.patch import change
from capture.event import Event
from nmem.importing import histories
from nmem.importing.histories import History, Session, Teller, above, stamp, text_of

_NAME = ".aider.chat.history.md"
_START = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*$", re.MULTILINE)
_BLOCK = re.compile(
    r"^(?:`{3,}[^\n]*\n)?<{5,9} SEARCH[^\n]*\n(.*?)^={5,9}\s*?\n(.*?)^>{5,9} REPLACE(?:\n`{3,}$)?",
    re.MULTILINE | re.DOTALL,
)
_SPACED = re.compile(r"^#### .*  $", re.MULTILINE)
_APPLIED = re.compile(r"^(?:Applied edit to|Wrote) (.+?)$")
_COMMIT = re.compile(r"^Commit ([0-9a-f]{7,40}) (.+)$")
_ADDED = re.compile(r"^Added (.+?) to the chat")
_MODEL = re.compile(r"^(?:Main m|M)odels?: (\S+)")
_VERSION = re.compile(r"^Aider v(\S+)")
_MODE = re.compile(r"^/(?:ask|code|architect|chat)\s+(?=\S)")
_RUN = re.compile(r"^(?:/run|/test|!)\s*(.+)$")
_SECOND = 1_000


def _owns(path: Path) -> bool:
    return path.name.endswith(".aider.chat.history.md")


def _sessions(path: Path) -> Iterator[Session]:
    whole, (_, _, changed) = text_of(str(path)), stamp(path)
    folder = path.parent.resolve()
    parts = list(_parts(whole))
    written = time.time() - changed / 1000 < histories.SETTLED
    for place, (begun, part) in enumerate(parts, 1):
        at, size = _millis(begun), len(part) or 1
        # below 0 while aider may be writing an answer: it is read once more when the file is settled
        version = -size if written and place == len(parts) else size
        own = histories.own_id("aider", folder.name, begun)
        yield Session(f"{path}#{begun}", str(path), "aider", own, str(folder), len(part), version,
                      min(at, changed) or 1)  # fmt: skip


def _parts(whole: str) -> Iterator[tuple[str, str]]:
    """The sessions of a file: when each began, and its text."""
    marks = list(_START.finditer(whole))
    for mark, after in zip(marks, [*marks[1:], None], strict=True):
        yield mark[1], whole[mark.end() : after.start() if after else len(whole)]


def _millis(begun: str) -> int:
    return int(datetime.fromisoformat(begun).timestamp() * 1000)


def _blocks(part: str) -> Iterator[tuple[str, list[str]]]:
    """What belongs together: lines that were typed, said by aider, or said by the model."""
    kind, lines, before = "model", list[str](), "aider"
    spaced = _SPACED.search(part) is not None
    for line in part.replace("\r\n", "\n").split("\n"):
        if not line.strip() and kind != "model":
            yield kind, lines
            kind, lines, before = "model", [], kind
            continue
        # some sessions have no spaces: there it is told by what stands before
        own = line.endswith("  ") or (kind if "".join(lines).strip() else before) != "model"
        marked = "typed" if line.startswith("#### ") else "aider" if line.startswith("> ") else "model"
        own = own and (marked != "typed" or not spaced or line.endswith("  "))
        now = marked if own else "model"
        if now != kind:
            if "".join(lines).strip():
                yield kind, lines
            kind, lines = now, []
        lines.append(line[5:].rstrip() if now == "typed" else line[2:].rstrip() if now == "aider" else line)
    if "".join(lines).strip():
        yield kind, lines


def _events(session: Session, told: Teller) -> Iterator[Event]:
    begun = session.path.rpartition("#")[2]
    part = next((part for start, part in _parts(text_of(session.file)) if start == begun), "")
    at, said, words, command = _millis(begun), "", "", None
    for kind, lines in _blocks(part):
        at += _SECOND
        if kind == "typed":
            yield from told.says(at - 1, _plain(said))
            said, before, words = "", words, _MODE.sub("", "\n".join(lines)).strip()
            command = _RUN.match(words)
            if words != before:  # a question behind `/ask` is written again, without it
                yield from told.prompt(at, words)
        elif kind == "model":
            said += "\n".join(lines) + "\n"
        else:
            if command:
                event = told.call(at, "shell", {"command": command[1]}, "run")
                event.output = event.output_text = "\n".join(lines)
                yield event
                command = None
            for number, line in enumerate(lines):
                yield from _told(told, line, at + number, said)
    if session.version > 0:
        yield from told.says(at + _SECOND, _plain(said))


def _plain(said: str) -> str:
    """The model's words without its edits: those are observations."""
    return _BLOCK.sub("", said).strip()


def _told(told: Teller, line: str, at: int, said: str) -> Iterator[Event]:
    """What a line of aider's own says of the work."""
    if found := _APPLIED.match(line):
        pairs = [(block[1], block[2]) for block in _BLOCK.finditer(said) if _names(said[: block.start()], found[1])]
        old, new = ("".join(side) for side in zip(*pairs, strict=True)) if pairs else ("", "")
        given: dict[str, object] = {"files": [change(found[1], old, new)]}
        yield told.call(at, "edit", given, "edit", ok=True)
    elif found := _COMMIT.match(line):
        event = told.call(at, "shell", {"command": f"git commit -m {_quoted(found[2])}"}, "commit", ok=True)
        event.output = event.output_text = f"[{found[1]}] {found[2]}"
        event.exit_code = 0
        yield event
    elif found := _ADDED.match(line):
        yield told.call(at, "read", {"path": found[1]}, "add", ok=True)
    elif found := _MODEL.match(line):
        told.model = found[1]
    elif found := _VERSION.match(line):
        told.source.version = found[1]


def _names(before: str, path: str) -> bool:
    """Whether the last line but a fence before a block is this path."""
    lines = [line.strip().strip("`*:") for line in before.rstrip().split("\n")[-2:]]
    return path in lines


def _quoted(words: str) -> str:
    return "'" + words.replace("'", "'\\''") + "'"


HISTORY = History(
    ("aider",), "aider", f"`{_NAME}` in the folder that you are in, or above it", "12 published sessions in 2 files",
    lambda: above(_NAME), _owns, _sessions, _events,
)  # fmt: skip
