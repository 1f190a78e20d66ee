"""Formats records, episodes, sessions, threads, learnings and tasks for agents: as one line, and in full."""

from __future__ import annotations

from collections.abc import Iterable
from sqlite3 import Connection
from typing import TYPE_CHECKING

from nmem.decisions import store as decisions
from nmem.mcp.reply import code, line, lines, name, some, when
from nmem.mcp.tool import OBS, PROMPT, Ref
from nmem.names import cited
from nmem.read import store
from nmem.read.views import StreamRow, outcome_words
from nmem.sanitize import quoted

if TYPE_CHECKING:
    from nmem.decisions.store import Decision
    from nmem.learn.skill_use import Skill
    from nmem.read.episodes import EpisodeRow
    from nmem.read.listing import Observation, PromptStory, SessionSummary
    from nmem.read.stories import Narrative, Story

_SHORT, _TEXT = 200, 400
_MANY = 12
Shown = dict[str, object]


def texts(found: Iterable[str], many: int = _MANY) -> list[str]:
    """Lines of a narrative."""
    return [line(each, _TEXT) for each in list(found)[:many] if each.strip()]


def ended(row: EpisodeRow) -> str:
    """How an episode stands, in a few words."""
    return ", ".join(word for word in (row.outcome.words, "open" if row.state == "open" else "") if word)


def episode_line(row: EpisodeRow, here: str = "") -> Shown:
    """One line of an index; the project only where it is not the one asked about."""
    return some({
        "id": f"episode/{row.id}", "at": when(row.last_at), "name": line(row.name, _SHORT), "outcome": ended(row),
        "prompts": row.turns, "thread": f"thread/{row.thread_id}" if row.thread_id else "",
        "project": name(row.project, 80) if row.project != here else "", "pinned": row.pinned,
    })  # fmt: skip


def episode(db: Connection, number: int, most: int) -> Shown:
    """One episode: what was wanted, what came of it, in which files."""
    from nmem.read.stories import story  # on use: start-up stays short

    found = story(db, number)
    assert found is not None
    row = found.row
    return some({
        "id": f"episode/{number}", "name": line(row.name, _SHORT), "wanted": lines(found.intent, min(most, 2000)),
        "project": name(row.project, 80), "branch": name(found.branch, 80),
        "session": f"session/{line(row.session_id, 80)}", "thread": f"thread/{row.thread_id}" if row.thread_id else "",
        "from": when(row.started_at), "to": when(row.last_at), "prompts": row.turns, "calls": found.observations,
        "decided": [decision(each) for each in found.decisions[:_MANY]], **_narrative(found), "files": _files(found),
        "commits": [f"{line(each.hash[:10], 10)} {quoted(each.message, 120)}" for each in found.commits[:_MANY]],
        "goes_on_with": f"episode/{found.resumes.id}" if found.resumes else "",
        "taken_up_in": [f"episode/{each.id}" for each in found.resumed_by],
        "asked": [f"prompt/{prompt}" for prompt in sorted(found.prompts)[:30]],
    })  # fmt: skip


def decision(one: Decision) -> Shown:
    """What a person settled: the question, their words, the agent's restatement, and what replaced it."""
    return some({
        "id": f"decision/{one.id}", "at": when(one.at),
        "superseded_by": line(one.superseded.told, 120) if one.superseded else "",
        "asked": line(one.question, _TEXT), "decided": line(one.text, 1000), "restated": line(one.restated, 1000),
        "said_in": f"prompt/{one.prompt_id}", "dismissed": one.state == "dismissed",
    })  # fmt: skip


def decided(db: Connection, number: int) -> Shown:
    """One decision, with the episode it was made in."""
    one = decisions.get(db, number)
    assert one is not None
    return decision(one) | some({"kind": one.kind, "episode": f"episode/{one.unit_id}" if one.unit_id else "",
                                 "project": line(one.project, 80)})  # fmt: skip


def _narrative(found: Story) -> Shown:
    told: Narrative | None = found.narrative
    worded = not found.hindered or (told is not None and not told.stale)  # else what a program printed
    out: Shown = {"outcome": line((told.outcome if told else "") or ended(found.row), _TEXT),
                  "obstacle": line(found.hindered, _TEXT) if worded else quoted(found.hindered)}  # fmt: skip
    if told is not None:
        out |= {"story": line(told.summary, 1200), "done": texts(told.completed), "learned": texts(told.learned),
                "next_steps": texts(told.next_steps), "notes": texts(told.notes),
                "told_by": "the records alone" if not told.by_model else line(told.narrator, 60)}  # fmt: skip
    return out


def _files(found: Story) -> list[str]:
    out = []
    for each in found.hot[:_MANY]:
        counts = ((each.edits, "changed"), (each.reads, "read"), (each.failures, "failed"))
        out.append(f"{cited(each.path, 200)} ({', '.join(f'{word} {many}x' for many, word in counts if many)})")
    return out


def summary(found: SessionSummary) -> Shown:
    """What was told of a session."""
    return some({"wanted": line(found.intent, _TEXT), "done": texts(found.completed), "learned": texts(found.learned),
                 "next_steps": texts(found.next_steps), "notes": line(found.notes, _TEXT)})  # fmt: skip


def session(db: Connection, key: str) -> Shown:
    """One session: where and when it ran, its summary, an index of its episodes."""
    from nmem.read import listing, views  # on use: start-up stays short

    row = views.session(db, key)
    assert row is not None
    told, episodes = listing.summary(db, key), listing.of_session(db, key)
    return some({
        "id": f"session/{line(key, 80)}", "client": line(row.client, 40), "project": name(row.project, 80),
        "branch": name(row.branch, 80), "model": line(row.model, 60), "state": row.state, "from": when(row.started_at),
        "to": when(row.last_at), **(summary(told) if told else {"asked_last": line(row.intent, _SHORT)}),
        "episodes": [episode_line(each, row.project) for each in episodes[:60]],
    })  # fmt: skip


def thread(db: Connection, number: int, now: int) -> Shown:
    """One line of work: its summary, its sessions, an index of its newest episodes."""
    from nmem.read import listing  # on use: start-up stays short
    from nmem.threads import read  # on use: start-up stays short

    found = read.view(db, number, now)
    assert found is not None
    one = found.thread
    newest = listing.listed(db, thread=number, limit=_MANY)
    return some({
        "id": f"thread/{number}", "title": line(one.title, _SHORT), "project": name(one.project, 80),
        "state": one.state, "from": when(one.created_at), "to": when(one.last_at), "summary": line(one.micro, 600),
        "story": line(one.meso, 1500), "patterns": line(one.macro, 1500),
        "skills": [skill(each) for each in found.skills[:_MANY]],
        "linked_with": [f"thread/{each}" for each in (found.cross.threads if found.cross else ()) if each != number],
        "sessions": [f"session/{line(each.id, 80)} {when(each.last_at)}" for each in found.sessions[-_MANY:]],
        "episodes": [episode_line(each, one.project) for each in newest],
    })  # fmt: skip


def skill(one: Skill) -> str:
    """When its commands are due, and in which order."""
    return f"learning/{one.id} {quoted(one.when, 120)}: {quoted(' > '.join(one.steps), 300)}"


def learning(db: Connection, number: int, now: int) -> Shown:
    """One learning: what keeps happening, how often, what put it right, where it was met."""
    from nmem.learn import read  # on use: start-up stays short
    from nmem.learn.kinds import words  # on use: start-up stays short

    one = read.learning(db, number, now)
    assert one is not None
    fixed = one.remedy
    return some({
        "id": f"learning/{number}", "what": words(one.kind).label, "title": line(one.title, 300), "state": one.state,
        "heat": one.heat, "project": name(one.project, 80), "sessions": one.sessions, "times": one.occurrences,
        "first": when(one.first_at), "last": when(one.last_at), "rule": line(one.rule, 600),
        "files": [name(each, 200) for each in one.files[:_MANY]],
        "remedy": line(fixed.text, _TEXT) if fixed else "",
        "remedy_commands": texts(fixed.commands) if fixed else [],
        "met_in": [some({"id": f"obs/{each.observation_id}" if each.observation_id else f"prompt/{each.prompt_id}",
                         "at": when(each.at), "role": each.role, "text": line(each.excerpt, _SHORT)})
                   for each in read.evidence(db, number, _MANY)],
    })  # fmt: skip


def task(db: Connection, number: int, most: int, now: int) -> Shown:
    """One task: what was asked, where it stands, what it said last."""
    from nmem.dispatch import read  # on use: start-up stays short

    one = read.task(db, number)
    assert one is not None
    return some({
        "id": f"task/{number}", "state": one.state, "why": line(read.standing(one, now), _TEXT),
        "project": name(one.project, 80), "client": line(one.client, 40), "folder": name(one.cwd, 400),
        "queued": when(one.created_at), "from": when(one.started_at), "to": when(one.ended_at),
        "session": f"session/{line(one.session_id, 80)}" if one.session_id else "",
        "branch": name(one.branch, 80), "needs": [f"task/{each}" for each in one.needs],
        "queued_by": one.source if one.source != "person" else "",
        "learning": f"learning/{one.learning_id}" if one.learning_id else "",
        "prompt": lines(one.prompt, most), "said_last": lines(one.output, min(most, 1200)),
    })  # fmt: skip


# Observations and sayings


_INDEXED, _ANSWER = 160, 8_000
_SAID_BY = {"user": "user", "agent": "agent", "machine": "client"}


def index(row: StreamRow, most: int = _INDEXED) -> Shown:
    """One line of a list: what `get` gives in full."""
    kind = OBS if row.key % 2 else PROMPT
    failed = outcome_words(row.outcome, row.exit_code, row.meta) if row.outcome == "failed" else ""
    text = "" if row.path and row.word in ("file_read", "file_edit", "file_write") else code(row.text, most)
    return some({"id": f"{kind}/{row.key // 2}", "at": when(row.at), "what": row.word.replace("/", " "),
                 "path": name(row.path, 200), "text": text, "failed": failed, "again": row.repeats})  # fmt: skip


def record(db: Connection, ref: Ref, most: int) -> Shown:
    """One observation or saying in full."""
    from nmem.read import listing  # on use: start-up stays short

    if ref.kind == OBS:
        done = listing.observation(db, ref.number)
        assert done is not None
        return _observation(done, most)
    said = listing.prompt(db, ref.number)
    assert said is not None
    return _saying(db, said, most)


def _observation(found: Observation, most: int) -> Shown:
    """Its text, what it answered, how it went."""
    changed = f"+{found.added or 0} -{found.removed or 0}"
    return some({
        "id": f"obs/{found.id}", "at": when(found.at), "what": found.type, "tool": name(found.tool, 80),
        "session": f"session/{line(found.session_id, 80)}",
        "prompt": f"prompt/{found.prompt_id}" if found.prompt_id else "",
        "episode": f"episode/{found.unit_id}" if found.unit_id else "",
        "path": name(found.path, 400), "lines": changed if changed != "+0 -0" else "",
        "outcome": found.outcome, "again": found.repeats, "kind": line(found.mark, 40),
        "pinned": found.pinned, **_whole("text", found.text, most),
        **_whole("answer", found.answer, min(most, _ANSWER)),
    })  # fmt: skip


def _saying(db: Connection, found: PromptStory, most: int, few: int = 30) -> Shown:
    """Its words, with an index of what was done after it."""
    later = decisions.superseded(db, [f"prompt/{found.id}"]).get(f"prompt/{found.id}")
    return some({
        "id": f"prompt/{found.id}", "at": when(found.at), "by": _SAID_BY.get(found.source, found.source),
        "what": found.kind, "session": f"session/{line(found.session_id, 80)}",
        "episode": f"episode/{found.unit_id}" if found.unit_id else "",
        "superseded_by": line(later.told, 120) if later else "", **_whole("text", found.text, most),
        "done": [index(row) for row in found.done[:few]], "done_more": max(0, len(found.done) - few),
    })  # fmt: skip


def _whole(name: str, text: str, most: int) -> Shown:
    """A text, and how long it really is where it was cut."""
    shown = lines(text, most)
    return {name: shown, f"{name}_of": f"{len(text)} characters"} if len(text) > most else {name: shown}


_QUOTED = 240
_QUOTED_BY = {"user": "the person", "agent": "the agent", "machine": "the client"}


def hit(db: Connection, found: str) -> Shown:
    """Of what a person said: that they did, and the agent's closing words to it; of another's, whose words they are.

    Of any hit whose decision holds no more: the person's words that hold instead. Else nothing of what is no saying.
    """
    later = decisions.superseded(db, [found]).get(found)
    holds = decisions.get(db, later.id) if later else None
    return some({**_said(db, found), "holds_now": line(holds.text, _QUOTED) if holds else ""})


def _said(db: Connection, found: str) -> Shown:
    kind, _, number = found.partition("/")
    row = store.prompt(db, int(number)) if kind in (PROMPT, "reasoning") and number.isdecimal() else None
    if row is None:
        return {}
    _, session_id, at, source, *_ = row
    answer = store.answer_to(db, session_id, at) if source == "user" else ""
    return {"by": _QUOTED_BY.get(source, source), "answered": line(answer, _QUOTED)}
