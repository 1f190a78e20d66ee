"""Records whether links of threads were right: a person's yes or no, a remark in the thread, or shared files.

A person's word decides what counts as linked and is kept as a correction that can be undone. Remarks ("didn't we talk
about this?") and files are weaker evidence: they are outcomes to tune on, and never change what is linked.

"That's not what I meant" and "this is unrelated" say that a link was wrong; "didn't we talk about this?" says that
there should be one. In the languages that nmem's other cues know.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby
from sqlite3 import Connection
from typing import Any

from capture.storage.store import transaction
from nmem.conversation.cues import Cue
from nmem.errors import NmemError
from nmem.store.corrections import write
from nmem.threads import links_store
from nmem.threads.decisions import CORRECT, FILES, INCORRECT, LINK, PERSON, WORDS, Decision
from nmem.threads.link import Linker, combined, row

COMMON = 2
"""Files changed later and touched earlier that say: the same line of work."""
SHARE = 0.3
EVERYWHERE = 0.05
"""A file changed in more than this share of the project's threads ties nothing together."""
OWN = 3
"""Files that each must have changed before having none in common says anything."""
EARLY = 4
"""Prompts of a thread in which a person remarks whether it goes on with earlier work."""
NEAREST = 0.15
"""A thread that was not linked, and that a remark may mean, has at least this score."""
_ENDED = 14 * 24 * 60 * 60_000
"""Milliseconds after its last word in which a thread that has ended is looked at again: one closes hours after it."""
_RECENT = 2 * 24 * 60 * 60_000
"""Milliseconds after a decision in which remarks are looked for: the first prompts come soon."""
_FOREVER = 1 << 62


def confirm(db: Connection, decision_id: int, related: bool, now: int) -> Decision:
    """The person says whether the two threads of a decision are one line of work. Raises NmemError."""
    before = links_store.decision(db, decision_id)
    if before is None:
        raise NmemError(f"there is no link {decision_id}: `nmem threads show ID` lists them")
    with transaction(db):
        _say(db, before, related, now, _outcome(before))
    return _again(db, decision_id)


def relate(db: Connection, one: int, other: int, related: bool, now: int) -> Decision:
    """The person links two threads, or says that they are not one line of work. Raises NmemError."""
    if one == other:
        raise NmemError("a thread cannot be linked with itself")
    heads = [links_store.head(db, each) for each in (one, other)]
    for number, each in zip((one, other), heads, strict=True):
        if each is None:
            raise NmemError(f"there is no thread {number}: `nmem threads` lists them")
    earlier, later = sorted((each for each in heads if each), key=lambda each: (each.created_at, each.id))
    if earlier.project_id != later.project_id:
        raise NmemError(f"threads {one} and {other} belong to different projects")
    stored = links_store.between(db, earlier.id, later.id)
    scored = None if stored else Linker(db).scores(later, [earlier])
    with transaction(db):
        if stored is None:
            if not scored:
                raise NmemError(f"nothing was said in thread {later.id}")
            number = links_store.write_decision(db, row(scored[0], later, now))
            _say(db, _again(db, number), related, now, {"absent": True})
        else:
            number = stored.id
            _say(db, stored, related, now, _outcome(stored))
    return _again(db, number)


def by_words(db: Connection, now: int, *, lately: bool = False) -> int:
    """Note the outcome of recent decisions that the person's remarks tell; how many. Before `by_files`: words count.

    `lately`: only of threads that something has happened in; nothing new speaks of the others.
    """
    found = []
    since = now - _RECENT
    for later, some in groupby(
        links_store.open_since(db, since, since if lately else 0), key=lambda each: each.later_thread_id
    ):
        prompts = links_store.opening(db, later, EARLY)
        said = [same_work(text, first=number == 0) for number, text in enumerate(prompts)]
        remark = next((each for each in said if each is not None), None)
        if remark is not None:
            found += _meant(list(some), remark)
    with transaction(db):
        for each, right in found:
            links_store.set_outcome(db, each.id, CORRECT if right else INCORRECT, WORDS, now)
    return len(found)


def _meant(about: list[Decision], same: bool) -> list[tuple[Decision, bool]]:
    """The decisions about a thread that a remark speaks of, and whether they were right.

    "Unrelated" speaks of every link; "we talked about this" of the likeliest link, or of the one that was not made.
    """
    links = [each for each in about if each.decision == LINK]
    if not same:
        return [(each, False) for each in links]
    best = max(links or about, key=lambda each: (each.algorithmic_score, each.id))
    return [(best, bool(links))] if links or best.algorithmic_score >= NEAREST else []


def by_files(db: Connection, now: int, *, lately: bool = False) -> int:
    """Note the outcome of decisions about ended threads that the files tell; how many. `lately` as in `by_words`."""
    files = _Files(db)
    waiting = links_store.without_outcome(db, now - _ENDED if lately else 0)
    found = [(each, told) for each in waiting if (told := files.told(each)) is not None]
    with transaction(db):
        for each, related in found:
            right = (each.decision == LINK) == related
            links_store.set_outcome(db, each.id, CORRECT if right else INCORRECT, FILES, now)
    return len(found)


def undo(db: Connection, target: str, before: dict[str, Any]) -> None:
    """Put back what a correction of kind link or unlink changed; inside the caller's transaction."""
    decision_id = int(target.partition("/")[2])
    if before.get("absent"):
        links_store.forget_decision(db, decision_id)
    else:
        links_store.set_outcome(db, decision_id, before["outcome"], before["outcome_by"], before["outcome_at"])
        if "summary" in before:
            links_store.set_summary(db, decision_id, before["summary"])


def _say(db: Connection, about: Decision, related: bool, now: int, before: dict[str, Any]) -> None:
    right = (about.decision == LINK) == related
    links_store.set_outcome(db, about.id, CORRECT if right else INCORRECT, PERSON, now)
    kind = "link" if related else "unlink"
    payload = {"earlier": about.earlier_thread_id, "later": about.later_thread_id, "related": related}
    write(db, kind, f"link/{about.id}", payload, before, now)
    if related and not about.summary:
        earlier, later = (links_store.head(db, each) for each in (about.earlier_thread_id, about.later_thread_id))
        if earlier and later:
            links_store.set_summary(db, about.id, combined(earlier, later))


def _outcome(of: Decision) -> dict[str, Any]:
    return {"outcome": of.outcome or None, "outcome_by": of.outcome_by or None, "outcome_at": of.outcome_at,
            "summary": of.summary or None}  # fmt: skip


def _again(db: Connection, decision_id: int) -> Decision:
    found = links_store.decision(db, decision_id)
    if found is None:
        raise NmemError(f"there is no link {decision_id}")
    return found


class _Files:
    """What the files of threads say; each thread's are read once for all decisions."""

    def __init__(self, db: Connection) -> None:
        self._head = cache(lambda thread_id: links_store.head(db, thread_id))
        self._everywhere = cache(lambda project_id: links_store.common_files(db, project_id, EVERYWHERE))
        self._touched = cache(
            lambda thread_id, until, edited: frozenset(links_store.files(db, thread_id, 0, until, edited=edited))
        )

    def told(self, about: Decision) -> bool | None:
        """Do the files say that two threads are one line of work? None when they say nothing."""
        later = self._head(about.later_thread_id)
        if later is None:
            return None
        changed = self._touched(about.later_thread_id, _FOREVER, True) - self._everywhere(later.project_id)
        common = changed & self._touched(about.earlier_thread_id, later.created_at, False)
        if len(common) >= COMMON or (common and len(common) / len(changed) >= SHARE):
            return True
        if common or len(changed) < OWN:
            return None
        return False if len(self._touched(about.earlier_thread_id, later.created_at, True)) >= OWN else None


LONGEST = 300
"""Characters at the beginning of a prompt in which a remark is looked for: further on a text quotes or reports."""


_MISUNDERSTOOD = Cue(
    r"\bnot what i (?:meant|asked|was asking|want(?:ed)?|said)\b|\byou (?:misunderst\w+|got (?:me|that|it) wrong)",
    r"\b(?:das|so) (?:meinte|meine|wollte) ich (?:doch |aber )?nicht\b|\bdas habe? ich nicht gemeint\b",
    r"\bno (?:es|era) (?:eso )?lo que (?:quería|quise|pedí|decía)\b|\bme refería a otra\b",
    r"\bce n'?(?:est|était) pas ce que je (?:voulais|demandais|disais)\b|\bnão (?:é|foi|era) (?:isso|o) que (?:eu )?"
    r"(?:quis|queria|pedi|disse)\b|\bnon (?:è|era) quello che (?:volevo|intendevo)\b|\bdat bedoel(?:de)? ik niet\b",
    r"그런 뜻이 아니|그게 아니라|そういう意味ではな|そうじゃなく|我不是这个意思|不是我(?:想|要)(?:说|的)",
)
"""An answer to what the agent did: said in a first prompt, it is about something else."""

_ANOTHER = Cue(
    r"\b(?:this|that|it) (?:is|was|has)(?:n'?t| not)? ?(?:un|not )related\b|\bunrelated to (?:that|the (?:last|"
    r"previous))",
    r"\b(?:this|that|it)(?:'s| is) (?:a |an )?(?:completely |totally )?(?:different|separate|another|"
    r"new) (?:task|topic|"
    r"thing|issue|subject|matter|story)\b|\bnothing to do with (?:that|the (?:last|previous|other|earlier))\b",
    r"\bforget (?:about )?(?:that|the (?:last|previous|earlier|other))\b|\bwrong (?:thread|task|topic)\b",
    r"\b(?:hat|das hat) (?:damit )?nichts (?:damit )?zu tun\b|\b(?:ganz )?(?:anderes|neues) thema\b|\bvergiss das\b",
    r"\b(?:es|esto es) (?:otro|un nuevo) (?:tema|asunto)\b|\bno tiene (?:nada )?que ver\b|\bolvida eso\b",
    r"\b(?:un|c'est un) autre sujet\b|\brien à voir\b|\boutro assunto\b|\bnada a ver\b|\baltro argomento\b|"
    r"\bniets mee te maken\b|\bander onderwerp\b",
    r"다른 (?:주제|작업|얘기|이야기)|상관없는|別の(?:話|件|タスク)|関係(?:ない|ありません)|(?:另一个|"
    r"别的)(?:任务|话题|问题)|没有关系|无关",
)

_SAME = Cue(
    r"\b(?:didn'?t|did|haven'?t|have|hadn'?t) we (?:not |already )*(?:talk\w*|discuss\w*|spoken|decid\w*|"
    r"agree\w*|cover\w*|"
    r"been over|fix\w*|solv\w*)\b|\bwe(?:'ve| have)? already (?:talked|discussed|decided|agreed|covered|fixed|"
    r"solved)\b",
    r"\bas (?:we|i) (?:discussed|said|agreed|decided|told you)\b|\blike (?:we did )?(?:last time|before|yesterday)\b|"
    r"\b(?:where|what) we (?:discussed|agreed|talked about) (?:last|yesterday|earlier|before)\b|"
    r"\bi already told you\b",
    r"\b(?:haben|hatten) wir (?:das |darüber |davon )?(?:nicht |doch )?(?:schon|bereits)\b|"
    r"\bwie (?:schon )?(?:besprochen|"
    r"gesagt|beim letzten mal)\b|\bdas hatten wir (?:doch |schon )+",
    r"\b(?:no )?(?:habíamos|hemos|lo) (?:ya )?(?:hablado|hablamos|discutido|acordado)\b|"
    r"\bcomo (?:ya )?(?:dijimos|hablamos|"
    r"la última vez)\b",
    r"\bon (?:en )?(?:a|avait) (?:pas )?déjà (?:parlé|discuté|décidé|vu)\b|\bcomme (?:convenu|la dernière fois)\b",
    r"\b(?:já|não) (?:tínhamos )?(?:falamos|falado|discutimos|conversamos|decidimos)\b|\bcomo (?:combinamos|"
    r"da última vez)\b",
    r"\bne abbiamo già parlato\b|\bcome l'ultima volta\b|\bhadden we (?:dit|het) (?:niet )?al\b|"
    r"\bzoals (?:besproken|afgesproken)\b",
    r"(?:이미|전에|지난번에|저번에) ?(?:얘기|이야기|말|논의|결정)|지난번처럼|(?:前に|すでに|もう)(?:話し|議論|"
    r"決め)|前回(?:の|と|話)|"
    r"(?:之前|上次|已经)(?:说过|讨论过|谈过|聊过|决定)|(?:像|跟)上次一样",
)


def same_work(prompt: str, *, first: bool) -> bool | None:
    """Whether a person says that a thread goes on with earlier work; None where the prompt says nothing of that.

    `first`: nothing was answered before the prompt.
    """
    text = prompt[:LONGEST]
    if _ANOTHER.search(text) or (not first and _MISUNDERSTOOD.search(text)):
        return False
    return True if _SAME.search(text) else None
