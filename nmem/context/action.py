"""Answers an agent's tool call (on the hook's path): a fix after a failure, a warning before a known mistake.

Silent unless it is sure; one thing at a time, each once a conversation; quoted, kept, withheld as all that is told.
"""

from __future__ import annotations

from nmem.context import session_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from capture.event import Event
    from nmem.context.config import Config
    from nmem.context.items import Item

_ABOUT_TO = "tool_call"
_BOUND = 320
_NEWEST = 60
"""Edits of a file among which the same one is looked for."""
_LINES = 3
"""Lines that an edit must bring to be known again, or fewer that are long."""
_LONG = 40


def answer(db: Connection, event: Event) -> str:
    """What is told in answer to a call that failed, or is about to be made; empty: nothing. Raises sqlite3.Error."""
    from capture.clients import room  # on use: start-up stays short

    most = room(event)
    if not most or event.agent_id or event.interrupted or event.refused:
        return ""
    from nmem.context.config import load  # on use: start-up stays short
    from nmem.tables import VERSION, version

    config = load()
    before = event.kind == _ABOUT_TO
    if not config.enabled or not (config.warn if before else config.fixes) or version(db) != VERSION:
        return ""
    place = session_store.place(db, event.session_id)
    if place is None:
        return ""
    item = (_foreseen if before else _mended)(db, event, place[0], place[2])
    return _told(db, event, config, place, item, most) if item is not None else ""


def _told(db: Connection, event: Event, config: Config, place: tuple[int, str, str], item: Item, most: int) -> str:
    """The text, kept as an injection; nothing where a person wants none, or it was told before."""
    from nmem.context.compose import compose, whole  # on use: start-up stays short
    from nmem.context.decide import silent
    from nmem.context.inject import kept
    from nmem.context.present import Present
    from nmem.context.store import CALL, FAILURE, Injection, excluded

    present = Present(place[0], event.session_id, event.at)
    present.project = place[1]
    if silent(db, present, config):
        return ""
    if chosen := excluded(db, present.project_id):
        from nmem.context import unsaid  # on use: start-up stays short

        if item.id in chosen or not unsaid.read(db, chosen).told([item]):
            return ""
    text = compose([item], present)
    if not whole(text) or len(text.encode("utf-8", "replace")) > most:
        return ""
    one = Injection(event.session_id, event.at, CALL if event.kind == _ABOUT_TO else FAILURE, event.client)
    one.items, one.text, one.reason = (item,), text, item.reason
    return kept(db, one, config)


def _mended(db: Connection, event: Event, project_id: int, root: str) -> Item | None:
    """How what failed just now was put right before."""
    from nmem.learn.met import failed  # on use: start-up stays short

    if not event.output_text:
        return None
    shell = event.tool == "shell"
    known = failed(db, project_id, event.output_text, lambda: _normal(event, root) if shell else "")
    if known is None or _typed(event) in known.commands:
        return None
    if event.ok is None and not _normal(event, root):
        return None  # nobody says that it failed, and whoever looks at an error has not made it
    return _learned(known.id, known.title, known.sessions, known.remedy, "this failed before, and was put right")


def _foreseen(db: Connection, event: Event, project_id: int, root: str) -> Item | None:
    """That what is about to be done went wrong before."""
    if event.tool != "shell":
        return _taken_back(db, event, project_id, root) or _given_back(db, event, _path(event, root), "")
    from nmem.learn.met import goes_wrong  # on use: start-up stays short

    command = _normal(event, root)
    known = goes_wrong(db, project_id, event.session_id, command, _typed(event)) if command else None
    if known is None:
        return _given_back(db, event, "", _typed(event))
    return _learned(known.id, known.title, known.sessions, known.remedy, "this is about to be run, and fails here")


def _given_back(db: Connection, event: Event, path: str, command: str) -> Item | None:
    """What a compaction of this session dropped of what is about to be changed or run."""
    at = session_store.compacted(db, event.session_id)
    if not at:
        return None
    from nmem.context.giveback import before_call  # on use: a session that was compacted only

    return before_call(db, event.session_id, at, event.at, path, command)


def _path(event: Event, root: str) -> str:
    """The first file of an edit, as it is stored."""
    from capture.clients.fields import items, mapping, text  # on use: start-up stays short
    from capture.extract.relative import relative

    first = mapping(next(iter(items(event.tool_input.get("files"))), None))
    return relative(text(first.get("path")), root, event.cwd) or ""


def _learned(number: int, title: str, sessions: int, remedy: str, reason: str) -> Item:
    from nmem.context.items import LEARNING, Item  # on use: start-up stays short
    from nmem.context.known import fact
    from nmem.sanitize import quoted

    return Item(f"learning/{number}", LEARNING, quoted(fact(title, sessions, remedy), _BOUND), score=1.0, reason=reason)


def _typed(event: Event) -> str:
    """A command as it was typed, on one line."""
    typed = event.tool_input.get("command")
    return " ".join(typed.split()) if isinstance(typed, str) else ""


def _normal(event: Event, root: str) -> str:
    """A command without what changes from run to run; empty for one that only looks."""
    from nmem.learn.commands import normalise  # on use: start-up stays short

    typed = event.tool_input.get("command")
    found = normalise(typed, root, event.tool_name == "PowerShell") if isinstance(typed, str) else None
    return found.key if found else ""


def _taken_back(db: Connection, event: Event, project_id: int, root: str) -> Item | None:
    """That this very change of a file was made in another session, and git threw it away there."""
    from capture.clients.fields import items, mapping, text  # on use: start-up stays short
    from capture.extract.relative import relative

    for file in map(mapping, items(event.tool_input.get("files"))[:_LINES]):
        path = relative(text(file.get("path")), root, event.cwd)
        added = _added(text(file.get("new")), text(file.get("old")))
        if not path or not added or (len(added) < _LINES and len("".join(added)) < _LONG):
            continue
        found = _same_edit(db, event.session_id, project_id, path, added)
        if found is not None:
            from nmem.context.items import LEARNING, Item  # on use: start-up stays short
            from nmem.names import cited
            from nmem.retrieval.terms import ago
            from nmem.sanitize import quoted

            number, at, command = found
            said = (
                f"This change of {cited(path)} was made {ago(event.at - at)} and taken back by {quoted(command, 120)}"
            )
            return Item(f"obs/{number}", LEARNING, said, score=1.0, reason="this change was made and taken back before")
    return None


def _same_edit(db: Connection, own: str, project_id: int, path: str, added: list[str]) -> tuple[int, int, str] | None:
    """The newest edit of a file by another session that brought these lines, if it was thrown away: when, and how."""
    from nmem.episodes.undone import undoes  # on use: start-up stays short

    rows = session_store.edits_like(db, project_id, path, added[0].strip(), _NEWEST)
    for number, session_id, at, content, seq in rows:
        if [line[2:].strip() for line in content.split("\n") if line.startswith("+ ")] != [
            each.strip() for each in added
        ]:
            continue
        if session_id == own:
            return None
        base = path.rpartition("/")[2]
        for command in session_store.git_after(db, session_id, seq):
            whole = "--hard" in command or " ." in command
            if undoes(command) and (base in command or whole):
                return number, at, command
        return None
    return None


def _added(new: str, old: str) -> list[str]:
    """The lines that an edit brings, in their order."""
    before = [line.rstrip() for line in old.split("\n")]
    out = []
    for line in new.split("\n"):
        shown = line.rstrip()
        if shown in before:
            before.remove(shown)
        elif shown.strip():
            out.append(shown)
    return out
