"""Redacts stored history by the current rules: when the person says so, or by itself after a newer nmem.

Every text of every table, page by page: looked at without a lock, changed in a short transaction that also says how far
it got. It can be stopped anywhere and goes on there. What is taken out is not kept anywhere: this cannot be undone.
Ids and keys are never touched: they hold the memory together, and at capture one with a secret in it became a hash.
Rows of projects with rules of their own are gone over by these, and so are rows that name no owner.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from sqlite3 import Connection

from capture.redaction import PLACES, WITHHELD, redact, settings
from capture.storage.store import transaction
from nmem.purge import erase, store
from nmem.purge.journal import Table, tables
from nmem.purge.rules import CHOSEN, Clean, choice, choice_in, digest, rules, text_of
from nmem.retention.journal import vacuum
from nmem.retrieval.store import forget_changed
from nmem.search import index_store
from nmem.store import registry

_PAGE = 400
_IDS = frozenset(("id", "parent_id", "session_id", "dedup_key", "native_id", "tool_use_id", "agent_id", "turn_id"))
"""Keys of JSON whose values are identifiers."""
_ITEMS, _FILE = "item", "file/"
"""A column of references such as thread/1; one that names a file is its path, and a text."""
FEW = 0.02
"""Where a sample shows that more of the texts than this would change, nobody rewrites history unasked."""
_SAMPLE = 2_000
"""Rows of a sample, over the facts from the oldest to the newest."""
_FACTS = ("observations", "prompts")
_SLICE = 50
MEND = "nmem redact --history --dry-run"
"""Shows what would change."""
_SHOWN = ("injections", "injection_items")
"""What sessions were shown, which goes with what it was made of."""
_FIRST = ("observations", "prompts", "sessions", "projects", "work_units")


@dataclass(slots=True)
class Pass:
    """One going over history; also a preview of one."""

    strings: int = 0
    changed: int = 0
    """Of these strings."""
    unchecked: int = 0
    """Strings for which a pattern of the person's takes too long: left as they are."""
    rows: int = 0
    """Rows in which something was, or would be, taken out."""
    counts: Counter[str] = field(default_factory=Counter)
    """Secrets by kind."""
    by_table: Counter[str] = field(default_factory=Counter)
    clean: Clean = field(default_factory=Clean)
    """Texts that hold nothing."""
    done: bool = False
    """False: stopped before the end; the next one goes on."""


@dataclass(frozen=True, slots=True)
class Part:
    """The rows that are redacted by the same rules: of one project with its own, or of all the others."""

    number: int = 0
    """The project's; 0: the others."""
    names: tuple[str, ...] = ()
    others: tuple[int, ...] = ()
    """Of the others, the projects that have their own."""

    @property
    def rules(self) -> settings.Within:
        """Inside, redaction is by these rules."""
        return settings.Within(self.names)


def parts(db: Connection, project: int = 0) -> list[Part]:
    """The parts of history; only that of one project, if one is named."""
    own = set(settings.base().projects)
    found = store.projects(db)
    if project:
        return [Part(*each) for each in found if each[0] == project]
    chosen = [Part(*each) for each in found if not own.isdisjoint(each[1])]
    return [Part(others=tuple(part.number for part in chosen)), *chosen]


def chosen_since(db: Connection) -> bool:
    """Whether what the person chose has changed since history was gone over, as far as is known.

    Then it is gone over only when the person says so, since nothing brings the texts back.
    """
    row = store.last_pass(db)
    return (choice_in(row.rules) if row is not None else {}) != choice()


def stale(db: Connection) -> bool:
    """Whether history was gone over by other rules than those in force, or not to the end."""
    row = store.last_pass(db)
    return row is None or row.ended_at is None or row.rules != rules()


def begin(db: Connection, now: int) -> None:
    """Where nothing is stored yet, all that comes is redacted by the rules in force: only later ones go over it."""
    with transaction(db):
        if store.last_pass(db) is None and not any(store.ends(db, table) for table in _FACTS):
            store.add_pass(db, now, rules(), now)


def preview(db: Connection, stopped: Callable[[], bool] = lambda: False, project: int = 0) -> Pass:
    """What `over` would take out, on a reading connection."""
    done = Pass()
    hit: set[tuple[object, ...]] = set()  # a row of every part counts once
    for part in parts(db, project):
        with part.rules:
            for table in _tables(db):
                after: list[object] | None = None
                while (page := _page(db, table, after, part)) and not stopped():
                    new = [row for row in page if (table.name, *row[0]) not in hit]
                    hit |= {(table.name, *row[0]) for row, _ in _looked(table, new, done)}
                    after = page[-1][0]
    done.done = not stopped()
    return done


def made_of_others(done: Pass) -> int:
    """How many rows of a preview were made of others: `over` drops those whose source it changed before it comes."""
    return sum(rows for name, rows in done.by_table.items() if registry.BY_NAME[name].kind == registry.DERIVED
               or registry.BY_NAME[name].remade or name in _SHOWN)  # fmt: skip


def pages(db: Connection, project: int = 0) -> int:
    """About how many pages there are to go over."""
    places = [(table.name, own) for part in parts(db, project) for table in _tables(db)
              if (own := store.owned_by(table, part.number, part.others)) is not None]  # fmt: skip
    return sum(1 + store.rows_of(db, name, own) // _PAGE for name, own in places)


def over(db: Connection, now: int, stopped: Callable[[], bool] = lambda: False, project: int = 0) -> Pass:
    """Go over history, or what one project has of it, on a writing connection outside a transaction.

    Only going over all of it goes on where it was stopped. Raises sqlite3.Error.
    """
    store.prepare(db)
    number, upto = (0, {}) if project else _begun(db, now)
    done = Pass()
    for part in parts(db, project):
        with part.rules:
            for table in _tables(db):
                place = f"{table.name}/{part.number}" if part.number else table.name
                after = upto.get(place, [])
                while after is not None:
                    if stopped():
                        return done
                    page = _page(db, table, after or None, part)
                    upto[place] = after = page[-1][0] if page else None
                    _write(db, number, table, page, upto, done)
    changed = done.rows
    if number:
        with transaction(db):
            changed = store.end_pass(db, number, now)
    elif project:
        _note(db, project)
    done.done = True
    if changed:
        with transaction(db):
            forget_changed(db)
        clean(db)
    return done


def _note(db: Connection, project: int) -> None:
    """Write into the last pass that a project was gone over by its rules of today; those of all must be the same."""
    row, mine = store.last_pass(db), choice()
    names = [digest(name) for part in parts(db, project) for name in part.names]
    if row is None or CHOSEN not in row.rules or mine.get("") != choice_in(row.rules).get(""):
        return
    said = {name: own for name, own in choice_in(row.rules).items() if name not in names}
    said |= {name: mine[name] for name in names if name in mine}
    text = f"{row.rules.partition(CHOSEN)[0]}{CHOSEN}{text_of(said)}"
    with transaction(db):
        store.set_rules(db, text)


def clean(db: Connection) -> None:
    """What was replaced is out of indexes, free pages and the write-ahead log as well."""
    store.merge(db)
    store.free_pages(db)
    store.fold(db)
    if store.size(db) <= store.SMALL:
        vacuum(db)
        store.fold(db)


def automatic(db: Connection, now: int, seconds: float, stopped: Callable[[], bool]) -> Pass | None:
    """Go on with history for some seconds where the detectors are others.

    None where there is nothing to do, or where nobody was asked: the person chose otherwise, or much would change.
    """
    if not stale(db) or chosen_since(db) or left(db) is not None:
        return None
    until = time.monotonic() + seconds
    return over(db, now, lambda: stopped() or time.monotonic() > until)


def left(db: Connection) -> Pass | None:
    """A sample of what would change where history is left to the person; None where settling goes over it."""
    row = store.last_pass(db)
    if row is not None and row.rules == rules():
        return None  # gone over, or begun: by a person, or since little changes
    seen = sample(db)
    return seen if chosen_since(db) or seen.changed > FEW * seen.strings else None


def in_force(db: Connection) -> str:
    """The rules by which stored texts may be redacted unasked: not by what the person chose since the last pass."""
    row = store.last_pass(db)
    return row.rules if row is not None and chosen_since(db) else rules()


def waiting(db: Connection, least: int = 1) -> str:
    """Why history is left to the person, in a few words; empty when it is not. Raises sqlite3.Error.

    `least`: how many texts of the sample have to change for it to be said.
    """
    seen = left(db)
    if seen is None or seen.changed < least:
        return ""
    if not seen.changed:
        return f"your redaction rules changed; a sample of {seen.strings:,} stored texts holds nothing they remove"
    share = f"{seen.changed:,} of {seen.strings:,} stored texts looked at hold what they remove"
    return f"the redaction rules changed, and {share}: nothing is removed until you run"


def sample(db: Connection) -> Pass:
    """What today's rules would take out of a part of the facts."""
    seen = Pass()
    for table in _tables(db):
        if table.name not in _FACTS:
            continue
        ends = store.ends(db, table.name)
        if ends is None:
            continue
        low, high = ends
        step = max(_SLICE, (high - low) // (_SAMPLE // 2 // _SLICE) + 1) if high - low > _SAMPLE // 2 else _SLICE
        for part in parts(db):
            with part.rules:
                for first in range(low, high + 1, step):
                    _looked(table, _page(db, table, [first - 1], part, first + _SLICE), seen)
    return seen


def _tables(db: Connection) -> list[Table]:
    found = [table for table in tables(db, ()) if (known := registry.BY_NAME.get(table.name)) and known.redacted]
    return sorted(found, key=lambda table: (table.name not in _FIRST, table.name))


def _page(db: Connection, table: Table, after: list[object] | None, part: Part, upto: int = 0) -> list[store.Row]:
    """The next rows of a part; of a table with ids, those below `upto`."""
    columns, own = registry.BY_NAME[table.name].texts.split(), store.owned_by(table, part.number, part.others)
    if not columns or own is None:
        return []
    return store.page(db, table, columns, own, after, upto, _PAGE)


def _looked(table: Table, page: list[store.Row], done: Pass) -> list[tuple[store.Row, dict[str, str]]]:
    """The rows of a page that hold secrets, with what stands there instead."""
    out = []
    done.clean.follow()
    for key, row in page:
        changed = {}
        texts = {name: value for name, value in row.items() if isinstance(value, str) and value}
        done.strings += len(texts)
        plain = "\n".join(value for value in texts.values() if value[0] not in "[{")
        none = done.clean.text(plain) == plain  # most rows hold nothing: one look at all of it, however strict it is
        for name, value in texts.items():
            if not none or value[0] in "[{":
                counts: dict[str, int] = {}
                new = _redacted(name, value, counts, done.clean)
                if WITHHELD in counts:
                    done.unchecked += 1
                elif new != value:
                    changed[name] = new
                    done.changed += 1
                    done.counts.update(counts)
        if changed:
            done.rows += 1
            done.by_table[table.name] += 1
            out.append(((key, row), changed))
    return out


def _redacted(name: str, value: str, counts: dict[str, int], clean: Clean) -> str:
    if name == _ITEMS and not value.startswith(_FILE):
        return value
    place = name in PLACES
    if value[0] in "[{":
        try:
            tree = json.loads(value)
        except (ValueError, RecursionError):
            return redact(value, counts, place=place)
        new = _tree(tree, counts, name, clean)
        return value if new == tree else json.dumps(new, ensure_ascii=False)
    return redact(value, counts, place=place)


def _tree(value: object, counts: dict[str, int], name: str, clean: Clean) -> object:
    """As `redact_tree`, but for ids in it, by the names they stand under."""
    if isinstance(value, dict):
        return {
            key if key.isdigit() else clean.text(key, counts): item
            if key in _IDS or key in ("session", "sessions", "turn")
            else _tree(item, counts, key, clean)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_tree(item, counts, name, clean) for item in value]
    return clean.value(value, counts, name) if isinstance(value, str) else value


def _begun(db: Connection, now: int) -> tuple[int, dict[str, list[object] | None]]:
    """The pass that is under way by the rules in force, or a new one, and how far it got."""
    if (row := store.last_pass(db)) is not None and row.rules == rules() and row.ended_at is None:
        return row.number, json.loads(row.upto)
    with transaction(db):
        return store.add_pass(db, now, rules()), {}


def _write(
    db: Connection, number: int, table: Table, page: list[store.Row], upto: dict[str, list[object] | None], done: Pass,
) -> None:  # fmt: skip
    """One page: its secrets, and how far the pass of this number is."""
    part = Pass(clean=done.clean)
    found = _looked(table, page, part)
    with transaction(db):
        for (key, row), changed in found:
            store.change(db, table, key, row, changed)
        if found:
            if table.name in ("observations", "prompts"):
                erase.remake(db, store.sessions_of(db, table.name, [key[0] for (key, _), _ in found]))
            index_store.drop(
                db, [str(value) for (_, row), _ in found for value in row.values() if isinstance(value, str)]
            )
            store.made_stale(db)
        store.set_upto(db, number, json.dumps(upto), part.strings, part.rows, part.counts)
    done.strings += part.strings
    done.changed += part.changed
    done.unchecked += part.unchecked
    done.rows += part.rows
    done.counts.update(part.counts)
    done.by_table.update(part.by_table)
