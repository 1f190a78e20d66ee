"""What each screen takes out of itself when it is exported: everything that it lists, beyond the rows on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem_tui.model.exported import CELLS, MOST, Exported, Gather, all_lines, data, heading, with_id
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line

if TYPE_CHECKING:
    from nmem.dispatch.order import Place
    from nmem.learn.learning import Learning
    from nmem.read.episode_filter import Filter
    from nmem.read.episodes import EpisodeRow, Slot
    from nmem.read.stream import Query
    from nmem_tui.model.context_reading import Wanted as WantedContext
    from nmem_tui.model.items import Item
    from nmem_tui.model.learnings_reading import Scope
    from nmem_tui.model.search_reading import Wanted as WantedHits
    from nmem_tui.model.stance_reading import Reading
    from nmem_tui.model.words import Words


def _drawn(items: Sequence[Item]) -> Iterator[Line]:
    return (item.draw(CELLS) for item in items)


def _counted(shown: int, *, more: bool, one: str, many: str = "") -> str:
    return several(shown, one, many) + (f", the first {MOST:,} that there are" if more else "")


def now(session_id: str, query: Query, at: int, zone: tzinfo | None) -> Gather:
    """The session at a glance, and its stream from the oldest row that is taken out."""

    def gather(db: Connection) -> Exported:
        from nmem.errors import NmemError
        from nmem.read.standing import row_id, standing
        from nmem_tui.model import cards, rows

        found = standing(db, session_id, at, MOST, query, whole=True)
        if found is None:
            raise NmemError("nothing is recorded yet: there is nothing to export")
        view = found.view
        count = several(len(found.rows), "row") + (f", the newest {MOST:,}" if found.more else "")
        lines = all_lines(
            [cards.header(view, at, CELLS, found.unit)],
            cards.narrow(view, at, zone, CELLS, 99, found.unit, None, None),
            heading(f"Stream ─ {count}{f' for “{query.text}”' if query else ''}"),
            (rows.draw(row, CELLS, zone) for row in found.rows),
            heading("What it would be told after a reset"), ([(row, "text")] for row in found.told.text.splitlines()),
        )  # fmt: skip
        values = {
            "session": with_id("session", view.session.id, view.session), "now": view, "unit": found.unit and with_id(
                "episode", found.unit.id, found.unit), "stance": found.stance, "next": found.told,
            "filter": query.text, "more": found.more,
            "stream": [{**with_id("", "", row), "id": row_id(row)} for row in found.rows],
        }  # fmt: skip
        return Exported("now", f"Now ─ {view.session.project}, {view.session.client}", lines, values)

    return gather


def episodes(query: Filter, project: str, unit_id: int, at: int, zone: tzinfo | None) -> Gather:
    """The list by day and thread, and the story of one."""

    def gather(db: Connection) -> Exported:
        from nmem.read import episodes as views
        from nmem.read import stories
        from nmem_tui.model import episodes as drawn
        from nmem_tui.model.shelf import Shelf, day_of
        from nmem_tui.model.story import uncut

        slots, more = _slots(db, query, project)
        ids = [slot.id for slot in slots]
        known: dict[int, EpisodeRow] = {}
        for begin in range(0, len(ids), 400):
            known |= views.rows(db, ids[begin : begin + 400])
        shelf, today = Shelf(zone), day_of(at, zone)
        shelf.add(slots, complete=True)
        listed: list[Line] = [
            drawn.heading(entry, known.get(entry.id), today, CELLS, projects=not project) if entry.kind != "unit"
            else drawn.unit(known[entry.id], CELLS, zone)
            for entry in shelf.entries if entry.kind != "unit" or entry.id in known
        ]  # fmt: skip
        story = stories.story(db, unit_id, whole=True) if unit_id else None
        told = uncut(story, zone, at) if story else []
        about = f" for “{query.text}”" if query else ""
        title = f"Episodes ─ {_counted(len(ids), more=more, one='episode')}{about}"
        values = {"filter": query.text, "project": project, "more": more, "story": story and with_id(
                  "episode", unit_id, story),
                  "episodes": [with_id("episode", each, known[each]) for each in ids if each in known]}  # fmt: skip
        parts = all_lines(listed, heading(f"Story ─ episode {unit_id}") if told else [], told)
        return Exported("episodes", title, parts, values)

    return gather


def _slots(db: Connection, query: Filter, project: str) -> tuple[list[Slot], bool]:
    from nmem.read import episodes as views

    out: list[Slot] = []
    while len(out) < MOST:
        page = views.page(db, out[-1] if out else None, query, project=project)
        out += page.slots
        if len(page.slots) < views.PAGE:
            return out[:MOST], len(out) > MOST
    return out[:MOST], True


def stance(found: Reading | None, at: int, zone: tzinfo | None) -> Gather:
    """One session's stance in words, and the project's sessions."""

    def gather(db: Connection) -> Exported:
        from nmem.errors import NmemError
        from nmem_tui.model import stance_list
        from nmem_tui.model.stance_reading import sessions

        if found is None:
            raise NmemError("nothing is recorded yet: there is nothing to export")
        row = found.session
        others = sessions(db, row.root or row.project)
        lines = all_lines(
            _drawn(stance_list.of_session(found.stance, CELLS, zone, column=True, plane=True)),
            heading("Sessions of the project"), _drawn(stance_list.of_sessions(others, row.id, zone, at)),
        )  # fmt: skip
        values = {"session": with_id("session", row.id, row), "stance": found.stance, "sessions": others}
        return Exported("stance", f"Stance ─ {row.project}", lines, values)

    return gather


def learnings(
    scope: Scope, state: str, words: Words, one: Learning | None, at: int, zone: tzinfo | None
) -> Gather:  # fmt: skip
    """The list, and one of them with its evidence."""

    def gather(db: Connection) -> Exported:
        from nmem_tui.model import learnings as drawn
        from nmem_tui.model import learnings_detail
        from nmem_tui.model import learnings_reading as reading

        found = reading.listing(db, scope, state, at)
        shown = drawn.matching(words, found.found)[:MOST]
        told = reading.detail(db, one) if one else None
        lines = all_lines(
            [drawn.columns(CELLS, states=True, where=True)],
            (drawn.row(each, CELLS, at, states=True, where=True) for each in shown),
            heading(learnings_detail.title(one)) if one else [],
            _drawn(learnings_detail.items(told, CELLS, at, zone)) if told else (),
        )
        values = {"state": state, "filter": words.text, "counts": found.counts, "learning": told,
                  "learnings": [with_id("learning", each.id, each) for each in shown]}  # fmt: skip
        title = f"{found.scope.words} ─ {several(len(shown), 'learning')}"
        return Exported("learnings", title, lines, values)

    return gather


def context(wanted: WantedContext, zone: tzinfo | None) -> Gather:
    """The exact text and each thing in it; or what was told before."""

    def gather(db: Connection) -> Exported:
        from nmem.errors import NmemError
        from nmem_tui.model import context as drawn
        from nmem_tui.model import context_past
        from nmem_tui.model import context_reading as reading

        if wanted.mode == reading.PAST:
            before = reading.told(db, wanted)
            if before is None:
                raise NmemError("nothing is recorded yet: there is nothing to export")
            lines = all_lines(_drawn(context_past.items(before.past, CELLS, wanted.at, zone)))
            told = [with_id("told", each.id, each) for each in before.past.found]
            return Exported("context", context_past.title(before.past, wanted.at), lines, {"told": told})
        shown = reading.shown(db, wanted)
        found = shown.found if shown else None
        if found is None:
            raise NmemError("nothing is shown yet: there is nothing to export")
        lines = all_lines(
            ([(row, "text")] for row in found.text.splitlines()),
            heading("What it is made of"), [drawn.columns(CELLS)], _drawn(drawn.items(found, wanted.mode)),
        )  # fmt: skip
        title = f"Told {drawn.NAMES[wanted.mode]} ─ {several(found.tokens, 'token')}"
        return Exported("context", title, lines, {"mode": wanted.mode, "context": data(found)})

    return gather


def search(wanted: WantedHits, zone: tzinfo | None) -> Gather:
    """Every hit that a list can hold."""

    def gather(db: Connection) -> Exported:
        from nmem_tui.model import search as drawn
        from nmem_tui.model import search_reading as reading

        if not wanted.text:
            return Exported(
                "search", "Search ─ what can be typed", all_lines(_drawn(drawn.manual(CELLS))), {"hits": []}
            )
        found = reading.find(db, wanted, "", lambda: False).results
        hits = list(found.hits)
        following = found.next
        while following and len(hits) < reading.MOST:
            page = reading.find(db, wanted, following, lambda: False).results
            hits += page.hits
            following = page.next
        lines = all_lines(*(
            (drawn.first(hit, CELLS), drawn.second(hit, CELLS, wanted.at, zone, where=True)) for hit in hits
        ))  # fmt: skip
        values = {"query": wanted.text, "order": wanted.order, "found": found.found, "more": bool(following),
                  "hits": hits}  # fmt: skip
        return Exported("search", f"Search ─ {drawn.count(found)} for “{wanted.text}”", lines, values)

    return gather


def tasks(words: Words, task_id: int, place: Place | None, at: int, zone: tzinfo | None) -> Gather:
    """The queue, and one task with all that it said last."""

    def gather(db: Connection) -> Exported:
        from nmem_tui.model import tasks as drawn
        from nmem_tui.model import tasks_detail
        from nmem_tui.model import tasks_reading as reading
        from nmem_tui.model.words import narrowed, text_of

        found = reading.listing(db, at)
        told = reading.detail(db, task_id, place) if task_id else None
        items = drawn.items(found, at, zone)
        items = narrowed(items, [text_of(item) for item in items], words) if words else items
        lines = all_lines(
            [drawn.columns(CELLS)], _drawn(items),
            heading(drawn.title(told.task, CELLS)) if told else [],
            _drawn(tasks_detail.items(told, CELLS, at, zone)) if told else (),
            heading("Output") if told and told.output else [],
            _drawn(tasks_detail.output(told.output, CELLS)) if told else (),
        )  # fmt: skip
        every = (*found.live, *(each.task for each in found.queued), *found.over)
        values = {"counts": found.counts, "task": told, "tasks": [with_id("task", each.id, each) for each in every]}
        return Exported("tasks", f"Tasks ─ {drawn.total(found)}", lines, values)

    return gather
