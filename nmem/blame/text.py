"""Words for people: a block of lines and its reason as one line, or as rows of a label and a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING

from nmem.hours import utc
from nmem.text import fit, printable

if TYPE_CHECKING:
    from nmem.blame.git import Commit
    from nmem.blame.reasons import Block
    from nmem.blame.store import Ran

_QUOTE, _TITLE, _HASH, _NAME, _NAMED = 80, 60, 8, 30, 3
Rows = list[tuple[str, str]]


def of(one: Block, *, named: bool = True) -> str:
    """A block in one line: its episode, prompt and commit; or who changed it last, and that nothing tells more.
    `named`: with the lines' numbers."""
    why = one.reason
    if why is None:
        said = _unknown(one)
        return f"{one.name} {said}" if named else said.partition(" ")[2]
    twice = why.prompt.startswith(why.episode.rstrip("…"))
    title = "" if twice else f"  {fit(printable(why.episode), _TITLE)}"
    episode = f"episode/{why.unit_id}{title}" if why.unit_id else _session(why.session_id)
    commit = one.commit.hash[:_HASH] if one.commit else "not committed" if one.tracked else "in no repository"
    return f"{episode} · “{fit(printable(why.prompt), _QUOTE)}” · {commit}"


def listed(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    """The rows of a whole file: its lines, and of what they are; neighbours with one reason, or with none, are one row,
    also with blank lines in between."""
    for _, group in groupby((one for one in blocks if one.lines), _alike):
        some = list(group)
        whole = replace(some[0], last=some[-1].last)
        commits = {one.commit.hash if one.commit else "": one.commit for one in some}
        yield _span(whole.first, whole.last), _several(commits) if len(commits) > 1 else of(whole, named=False)


def _alike(one: Block) -> object:
    """The same for blocks that are one row of a file."""
    if one.reason:
        return one.commit, one.reason.session_id, one.reason.prompt_id
    return (one.commit, one.seen_in, one.added_by) if one.seen_in or one.added_by else None


def _several(commits: Mapping[str, Commit | None]) -> str:
    """What is known of lines of several commits, or of one and of none, without a reason."""
    made = [one for one in commits.values() if one]
    who = list(dict.fromkeys(fit(printable(one.author), _NAME) for one in made))
    more = f" and {len(who) - _NAMED} others" if len(who) > _NAMED else ""
    open_ = " and some not committed" if None in commits.values() else ""
    by = f"last changed in {len(made)} commit{'s' * (len(made) > 1)} by {', '.join(who[:_NAMED])}{more}{open_}"
    return f"{by}; nothing recorded made them"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _session(session_id: str) -> str:
    return f"session/{printable(session_id[:8])}"


def _unknown(one: Block) -> str:
    """The verb, and what is known of lines without a reason."""
    are, was, it = ("is", "was", "it") if one.first == one.last else ("are", "were", "them")
    if one.commit is None:
        state = "not committed yet" if one.tracked else "in no repository"
        return f"{are} {state}; nothing recorded made {it}"
    by = f"{one.commit.hash[:_HASH]} by {fit(printable(one.commit.author), _TITLE)} on {_day(one.commit.at)}"
    if one.added_by:
        edit = f"obs/{one.added_by}" + (f" (episode/{one.added_in})" if one.added_in else "")
        return f"{was} last changed in {by}, outside a recorded session; {edit} had added this text before"
    nothing = f"nothing recorded made {it}"
    lines = "this line" if it == "it" else "these lines"
    made = f"episode/{one.seen_in} made that commit, but no recorded edit proves to have made {lines}"
    return f"{was} last changed in {by}; {made if one.seen_in else nothing}"


def rows(one: Block) -> Rows:
    """All that is known of a block."""
    text = [("", line) for line in one.lines or ("(blank)",)]
    why = one.reason
    if why is None:
        return [*text, ("", of(one))]
    episode = f"episode/{why.unit_id}  {why.episode}" if why.unit_id else ""
    found: Rows = [
        *text, ("episode", episode), ("session", "" if episode else _session(why.session_id)),
        ("asked", f"“{why.prompt}”  (prompt/{why.prompt_id})" if why.prompt else ""),
        ("edited", f"{_moment(why.edited_at)} by {why.client}  (obs/{why.edit_id})"),
        *(("instead of", line) for line in why.replaced),
        *(("failed before", _ran(each)) for each in why.failed),
        ("tests", f"{'passed' if why.tested.outcome == 'ok' else 'failed'} in the end: {_ran(why.tested)}"
         if why.tested else "none ran after the edit"),
        *(("decided", f"{each.text}  ({each.id})") for each in why.decisions),
        ("commit", _commit(one) + _other(why.committed_in, why.unit_id)),
    ]  # fmt: skip
    return [row for row in found if row[1]]


def paragraph(one: Block) -> Iterator[str]:
    """All that is known of a block, a line each, as a hunk of a diff has them."""
    yield f"@@ {one.name} @@"
    if one.reason is None:
        yield f" {of(one)}"
        return
    yield from (f" {label:<14}{text}" if label else f" {text}" for label, text in rows(one))


def _other(made_in: int, unit: int) -> str:
    return f", committed in episode/{made_in}" if made_in and made_in != unit else ""


def _commit(of: Block) -> str:
    if (one := of.commit) is None:
        return "not committed yet" if of.tracked else "the file is in no repository"
    return f"{one.hash[:_HASH]} {one.subject}, by {one.author} on {_day(one.at)}"


def _ran(one: Ran) -> str:
    return f"{one.what}{f': {one.said}' if one.said else ''}  (obs/{one.id})"


def _day(at: int) -> str:
    return f"{_local(at):%Y-%m-%d}"


def _moment(at: int) -> str:
    return f"{_local(at):%Y-%m-%d %H:%M}"


def _local(at: int) -> datetime:
    return utc(at).astimezone()
