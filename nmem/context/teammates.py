"""Tells a session what others of its team decided since the last one here, and what bears on its prompt.

On the hook's path; loaded only where others said anything in the project. Their texts are data as all that is told:
quoted, cut, and by name of their author. One's own comes first: where something of it says the same, theirs is not
told.
"""

from __future__ import annotations

from nmem.context import alike, selection_store
from nmem.context.items import TEAM, TEXT, Item
from nmem.context.quiet import quiet
from nmem.names import told
from nmem.retrieval import engine
from nmem.retrieval.terms import CHAT, ago
from nmem.retrieval.words import words
from nmem.sanitize import quoted
from nmem.teammates import live

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from sqlite3 import Connection

    from nmem.context.present import Present

DECIDED, RELATED = 2, 1
"""Items of others told at a start, and at a prompt."""
BEHIND = 0.3
"""The score of what others decided: behind all that is one's own."""
SAYS, PART, LEAST, SHARED = 1.5, 0.25, 0.6, 2
"""What words in common must say, in words that one episode alone has; of a short prompt a part of all it says, and at
least so much; and how many they are at least."""
SAME = 0.6
"""The part of a fact's words in something of one's own from which that says the same."""
_HEADS, _LOOKED_AT, _HEAD = 8, 5, 4
"""Words of a prompt that titles are looked through for: those that say most; facts that are compared; and letters of a
word that its other forms share."""
_KINDS = (live.EPISODE, live.LEARNING)
_WORDS = {live.DECISION: "decided", live.EPISODE: "worked on", live.LEARNING: "learned",
          live.RECALL: "wrote down"}  # fmt: skip


def decided(db: Connection, present: Present) -> list[Item]:
    """Others' decisions of the project since its last session before this one. Raises sqlite3.Error."""
    _, spoke, _ = selection_store.spoke(db, present.session_id)  # one that is resumed spoke itself
    before = selection_store.last_before(db, present.project_id, present.session_id)
    found = live.decided(db, present.project_id, max(before or 0, spoke or 0), present.at, 2 * DECIDED)
    some = [one for one in found if f"{TEAM}/{one[0]}" not in present.given]
    most = DECIDED - (len(found) - len(some))
    owners = live.owners(db)
    why = "decided since the last session here"
    return [_item(one, owners, present.at, BEHIND, why) for one in some[: max(0, most)]]


def related(db: Connection, present: Present, own: Sequence[Item]) -> list[Item]:
    """The episode or learning of another member that bears most on the prompt; none that something of `own` says.

    As one's own earlier work it must have words of the prompt that few episodes have. Raises sqlite3.Error.
    """
    asked = dict.fromkeys(word for word in words(present.prompt) if word not in CHAT)
    if len(asked) < SHARED or quiet(present.prompt):
        return []
    worth = engine.worth(db, present.project_id, asked, alike.indexed(db, present))
    rare = sorted(asked, key=lambda word: (-worth[word], word))[:_HEADS]
    heads = sorted({word[: max(_HEAD, len(word) - 2)] for word in rare})
    every = sum(worth.values())
    needed = min(SAYS, max(LEAST, PART * every))
    told_before = [set(words(item.text)) for item in own]
    best: list[tuple[float, live.Row, list[str]]] = []
    for kind in _KINDS:
        for one in live.speaking(db, present.project_id, kind, heads, present.at, _LOOKED_AT):
            theirs = set(words(f"{one[4]} {one[5]}"))
            both = [word for word in asked if word in theirs]
            says = sum(worth[word] for word in both)
            if len(both) < SHARED or says < needed or f"{TEAM}/{one[0]}" in present.given:
                continue
            if _said(set(words(one[4])), told_before):
                continue  # one's own is told
            best.append((says, one, both))
    best.sort(key=lambda one: (-one[0], one[1][0]))
    owners = live.owners(db)
    return [
        _item(
            one,
            owners,
            present.at,
            min(1.0, BEHIND + says / every / 2),
            f"it speaks of the same: {_rarest(both, worth)}",
        )
        for says, one, both in best[:RELATED]
    ]


def _rarest(some: Sequence[str], worth: dict[str, float]) -> str:
    return ", ".join(sorted(some, key=lambda word: (-worth[word], word))[:3])


def of_id(db: Connection, number: str, now: int, reason: str) -> list[Item]:
    """The item of a fact, however old; none where it was taken away. Raises sqlite3.Error."""
    owners = live.owners(db)
    return [_item(one, owners, now, 1.0, reason) for one in live.of_id(db, number)]


def _said(title: set[str], own: Sequence[set[str]]) -> bool:
    """Whether something of one's own has most of a title's words."""
    return not title or any(len(title & one) >= SAME * len(title) for one in own)


def _item(row: live.Row, owners: Mapping[str, str], now: int, score: float, reason: str) -> Item:
    """A fact as an item: who, what, when, and the words, quoted; redacted here, where it may be told without rules of
    this person."""
    from capture.redaction import outward  # on use: few sessions are told anything of others
    from capture.text import clean

    number, kind, author, at, title, body, subject = row
    who = told(author, 60) or "A member"
    other = told(live.corrected(owners, subject, author), 60)
    did = f"{_WORDS[kind]}, correcting {other}" if other else _WORDS[kind]
    text = f"{who} {did}, {ago(max(0, now - at))}: {quoted(outward(title), TEXT)}"
    if body.strip() and kind != live.DECISION:
        text += f" {quoted(outward(body), TEXT)}"
    return Item(f"{TEAM}/{clean(number)}", TEAM, f"{text}.", score=score, reason=reason)
