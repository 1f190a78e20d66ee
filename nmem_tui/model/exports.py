"""Exports the content of a screen as text and JSON, one function per screen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from functools import wraps
from sqlite3 import Connection
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from nmem.errors import NmemError
from nmem.read import episodes as views
from nmem.read import stories
from nmem.read.health import health as signs
from nmem.read.standing import row_id, standing
from nmem.text import as_data, printable, to_json
from nmem_tui.model import context as context_drawn
from nmem_tui.model import (
    context_queries,
    health_cards,
    health_storage,
    learning_detail,
    now_cards,
    search_queries,
    stance_list,
    stream,
    tasks_queries,
)  # fmt: skip
from nmem_tui.model import episodes as episode_list
from nmem_tui.model import health as health_drawn
from nmem_tui.model import learnings as learning_list
from nmem_tui.model import search as search_drawn
from nmem_tui.model import sessions as session_list
from nmem_tui.model import tasks as tasks_drawn
from nmem_tui.model.episodes import Shelf, day_of
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, plain
from nmem_tui.model.lists import narrowed, text_of
from nmem_tui.model.stance import sessions
from nmem_tui.model.story import uncut

if TYPE_CHECKING:
    from nmem.dispatch.read import Place
    from nmem.learn.learning import Learning
    from nmem.read.episode_store import Filter
    from nmem.read.episodes import EpisodeRow, Slot
    from nmem.read.stream import Query
    from nmem_tui.model.context_queries import Wanted as WantedContext
    from nmem_tui.model.learnings import Scope
    from nmem_tui.model.lists import Item, Words
    from nmem_tui.model.search_queries import Wanted as WantedHits
    from nmem_tui.model.stance import Reading

MOST = 5_000
"""Rows of a list that are taken out; where there are more, the text and the data say so."""
CELLS = 120
"""Cells of a line of text."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One view."""

    view: str
    title: str
    lines: tuple[Line, ...]
    data: Mapping[str, object]

    def written(self, form: str) -> str:
        """As text, or as JSON; that of a long list takes a moment."""
        return self.json() if form == "json" else self.text()

    def text(self) -> str:
        """As it would be read."""
        return f"{printable(self.title)}\n\n{plain(self.lines).rstrip()}\n"

    def json(self) -> str:
        """As another program takes it."""
        whole = {"view": self.view, "title": self.title, **self.data}
        return to_json(whole, indent=2) + "\n"


Gather = Callable[[Connection], Exported]
"""Reads what the view shows, all of it up to MOST rows."""
P = ParamSpec("P")


def _gather(do: Callable[Concatenate[Connection, P], Exported]) -> Callable[P, Gather]:
    """Makes a function of (db, ...) one of the rest alone, which returns the Gather."""

    @wraps(do)
    def made(*given: P.args, **named: P.kwargs) -> Gather:
        return lambda db: do(db, *given, **named)

    return made


def with_id(kind: str, number: object, value: object) -> dict[str, object]:
    """A record with its id as commands take it."""
    made = as_data(value)
    return {**(made if isinstance(made, dict) else {"value": made}), "id": f"{kind}/{number}"}


def heading(text: str) -> list[Line]:
    """A line that begins a part."""
    return [[], [(text, "title")]]


def all_lines(*parts: Iterable[Line]) -> tuple[Line, ...]:
    """Parts one after the other."""
    return tuple(line for part in parts for line in part)


def _drawn(items: Sequence[Item]) -> Iterator[Line]:
    return (item.draw(CELLS) for item in items)


@_gather
def now(db: Connection, session_id: str, query: Query, at: int, zone: tzinfo | None) -> Exported:
    """The session at a glance, and its stream from the oldest row that is taken out."""
    found = standing(db, session_id, at, MOST, query, whole=True)
    if found is None:
        raise NmemError("nothing is recorded yet: nothing to export")
    view = found.view
    count = several(len(found.rows), "row") + (f", the newest {MOST:,}" if found.more else "")
    lines = all_lines(
        [now_cards.header(view, at, CELLS, found.unit)],
        now_cards.narrow(view, at, zone, CELLS, 99, found.unit),
        heading(f"Stream ─ {count}{f' for “{query.text}”' if query else ''}"),
        (stream.draw(row, CELLS, zone) for row in found.rows),
        heading("What it would be told after a reset"), ([(row, "text")] for row in found.told.text.splitlines()),
    )  # fmt: skip
    values = {
        "session": with_id("session", view.session.id, view.session), "now": view, "unit": found.unit and with_id(
            "episode", found.unit.id, found.unit), "stance": found.stance, "next": found.told,
        "filter": query.text, "more": found.more,
        "stream": [{**with_id("", "", row), "id": row_id(row)} for row in found.rows],
    }  # fmt: skip
    return Exported("now", f"Now ─ {view.session.project}, {view.session.client}", lines, values)


@_gather
def episodes(db: Connection, query: Filter, project: str, unit_id: int, at: int, zone: tzinfo | None) -> Exported:
    """The list by day and thread, and the story of one."""
    slots, more = _slots(db, query, project)
    ids = [slot.id for slot in slots]
    known: dict[int, EpisodeRow] = {}
    for begin in range(0, len(ids), 400):
        known |= views.rows(db, ids[begin : begin + 400])
    shelf, today = Shelf(zone), day_of(at, zone)
    shelf.add(slots, complete=True)
    listed: list[Line] = [
        episode_list.heading(entry, known.get(entry.id), today, CELLS, projects=not project) if entry.kind != "unit"
        else episode_list.unit(known[entry.id], CELLS, zone)
        for entry in shelf.entries if entry.kind != "unit" or entry.id in known
    ]  # fmt: skip
    story = stories.story(db, unit_id, whole=True) if unit_id else None
    told = uncut(story, zone, at) if story else []
    first = f", the first {MOST:,} that there are" if more else ""
    title = f"Episodes ─ {several(len(ids), 'episode')}{first}{f' for “{query.text}”' if query else ''}"
    values = {"filter": query.text, "project": project, "more": more, "story": story and with_id(
              "episode", unit_id, story),
              "episodes": [with_id("episode", each, known[each]) for each in ids if each in known]}  # fmt: skip
    parts = all_lines(listed, heading(f"Story ─ episode {unit_id}") if told else [], told)
    return Exported("episodes", title, parts, values)


def _slots(db: Connection, query: Filter, project: str) -> tuple[list[Slot], bool]:
    out: list[Slot] = []
    while len(out) < MOST:
        page = views.page(db, out[-1] if out else None, query, project=project)
        out += page.slots
        if len(page.slots) < views.PAGE:
            return out[:MOST], len(out) > MOST
    return out[:MOST], True


@_gather
def stance(db: Connection, found: Reading | None, at: int, zone: tzinfo | None) -> Exported:
    """One session's stance in words, and the project's sessions."""
    if found is None:
        raise NmemError("nothing is recorded yet: nothing to export")
    row = found.session
    others = sessions(db, row.root or row.project)
    lines = all_lines(
        _drawn(stance_list.of_session(found.stance, CELLS, zone, found.calls, column=True, plane=True)),
        heading("Sessions of the project"), _drawn(stance_list.of_sessions(others, row.id, zone, at)),
    )  # fmt: skip
    values = {"session": with_id("session", row.id, row), "stance": found.stance, "sessions": others}
    return Exported("stance", f"Stance ─ {row.project}", lines, values)


@_gather
def learnings(
    db: Connection, scope: Scope, state: str, words: Words, one: Learning | None, at: int, zone: tzinfo | None
) -> Exported:
    """The list, and one of them with its evidence."""
    found = learning_list.listing(db, scope, state, at)
    shown = learning_list.matching(words, found.found)[:MOST]
    told = learning_list.detail(db, one) if one else None
    shape = learning_list.Shape(shown, states=True, where=True)
    lines = all_lines(
        [learning_list.columns(shape, CELLS)],
        (learning_list.row(each, shape, CELLS, at) for each in shown),
        heading(learning_detail.title(one)) if one else [],
        _drawn(learning_detail.items(told, CELLS, at, zone)) if told else (),
    )
    values = {"state": state, "filter": words.text, "counts": found.counts, "learning": told,
              "learnings": [with_id("learning", each.id, each) for each in shown]}  # fmt: skip
    title = f"{found.scope.words} ─ {several(len(shown), 'learning')}"
    return Exported("learnings", title, lines, values)


@_gather
def context(db: Connection, wanted: WantedContext, zone: tzinfo | None) -> Exported:
    """The exact text and each thing in it; or what was told before."""
    if wanted.mode == context_queries.PAST:
        before = context_queries.told(db, wanted)
        if before is None:
            raise NmemError("nothing is recorded yet: nothing to export")
        lines = all_lines(_drawn(context_drawn.past_items(before.past, CELLS, wanted.whose.at, zone)))
        told = [with_id("told", each.id, each) for each in before.past.found]
        return Exported("context", context_drawn.past_title(before.past, wanted.whose.at), lines, {"told": told})
    shown = context_queries.shown(db, wanted)
    found = shown.found if shown else None
    if found is None:
        raise NmemError("nothing is shown yet: nothing to export")
    lines = all_lines(
        ([(row, "text")] for row in found.text.splitlines()),
        heading("Its parts"), [context_drawn.columns(CELLS)], _drawn(context_drawn.items(found, wanted.mode)),
    )  # fmt: skip
    title = f"Told {context_drawn.NAMES[wanted.mode]} ─ {several(found.tokens, 'token')}"
    return Exported("context", title, lines, {"mode": wanted.mode, "context": found})


@_gather
def search(db: Connection, wanted: WantedHits, zone: tzinfo | None) -> Exported:
    """Every hit that a list can hold."""
    if not wanted.text:
        return Exported("search", "Search ─ query syntax", all_lines(_drawn(search_drawn.manual(CELLS))), {"hits": []})
    found = search_queries.find(db, wanted, "", lambda: False).results
    hits = list(found.hits)
    following = found.next
    while following and len(hits) < search_queries.MOST:
        page = search_queries.find(db, wanted, following, lambda: False).results
        hits += page.hits
        following = page.next
    lines = all_lines(*(
        (search_drawn.first(hit, CELLS), search_drawn.second(hit, CELLS, wanted.at, zone, where=True)) for hit in hits
    ))  # fmt: skip
    values = {"query": wanted.text, "order": wanted.order, "found": found.found, "more": bool(following),
              "hits": hits}  # fmt: skip
    return Exported("search", f"Search ─ {search_drawn.count(found)} for “{wanted.text}”", lines, values)


@_gather
def tasks(db: Connection, words: Words, task_id: int, place: Place | None, at: int, zone: tzinfo | None) -> Exported:
    """The queue, and one task with all that it said last."""
    found = tasks_queries.listing(db, at)
    told = tasks_queries.detail(db, task_id, place) if task_id else None
    items = tasks_drawn.items(found, at, zone)
    items = narrowed(items, [text_of(item) for item in items], words) if words else items
    lines = all_lines(
        [tasks_drawn.columns(CELLS)], _drawn(items),
        heading(tasks_drawn.title(told.task, CELLS)) if told else [],
        _drawn(tasks_drawn.detail_items(told, CELLS, at, zone)) if told else (),
        heading("Output") if told and told.output else [],
        _drawn(tasks_drawn.output(told.output, CELLS)) if told else (),
    )  # fmt: skip
    every = (*found.live, *(each.task for each in found.queued), *found.over)
    values = {"counts": found.counts, "task": told, "tasks": [with_id("task", each.id, each) for each in every]}
    return Exported("tasks", f"Tasks ─ {tasks_drawn.total(found)}", lines, values)


@_gather
def all_sessions(db: Connection, words: Words, project: str, which: str, sort: str, at: int) -> Exported:
    """The list of sessions."""
    found = session_list.listing(db, at, project, which, sort)
    shape = session_list.Shape(found)
    items = session_list.items(found, shape, at)
    items = narrowed(items, [text_of(item) for item in items], words) if words else items
    kept = {item.key for item in items}
    lines = all_lines([session_list.columns(shape, CELLS)], _drawn(items))
    values = {"sessions": [with_id("session", one.id, one) for one in found if one.id in kept]}
    return Exported("sessions", f"Sessions ─ {session_list.total(found, sort, which)}", lines, values)


@_gather
def health(db: Connection, path: str, at: int, zone: tzinfo | None, stopped: Callable[[], bool]) -> Exported:
    """Findings, hooks, redactions, storage, what is kept; every row is counted, unless nobody waits for it."""
    view, found = signs(db, path), health_drawn.worst_first(health_drawn.read_findings(db, path, at))
    secrets, stored, kept = (
        health_drawn.read_secrets(db, at),
        health_drawn.read_stored(db, at, stopped),
        health_drawn.read_kept(db, path),
    )
    parts = (
        (health_drawn.findings_title(found), health_drawn.findings(found, 0, at, zone)),
        ("Redactions", health_drawn.secrets(secrets, None, CELLS)),
        ("Storage by type", health_storage.items(stored, at, zone)),
        ("Backups and purges", health_drawn.kept(kept, at, zone)),
    )
    cards = (
        ("Hooks", health_cards.hooks(view, CELLS)), ("Events", health_cards.events(view, CELLS)),
        ("Rows by table", health_cards.storage(view, CELLS)), ("Clients", health_cards.clients(view, at, CELLS)),
        ("Fields nobody knew", health_cards.drift(view, CELLS)), ("Log", health_cards.log(view, CELLS)),
    )  # fmt: skip
    lines = all_lines(
        *((*heading(name), *(item.draw(CELLS) for item in items)) for name, items in parts),
        *((*heading(name), *card) for name, card in cards),
    )
    values = {"findings": found, "health": view, "redactions": secrets, "storage": stored, "kept": kept}
    return Exported("health", "Health", lines, values)
