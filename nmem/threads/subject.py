"""Checks whether a session's first prompt is on the subject of a recent line of work. On the hook's path.

The clock says that a session comes soon after another one; whether it goes on with the same work, its first prompt
says: it must share what is rare in the project: words, files, symbols, issue numbers. A feature branch that both are
on says a part of it. A prompt that leans on earlier work ("continue with the rename", "exclude the logs then") goes on
with what it shares a little with, else with what was last, unless it names a subject of its own ("the import still
crashes on empty files"). Only what was said and done before the prompt is read, so the answer is the same whenever it
is asked for, live or after an import.
"""

from __future__ import annotations

from math import log

from nmem.episodes.text import file_mentions, path_key, tokens, words
from nmem.retrieval.naming import GENERAL, JOINING, SAYS, issue_refs, symbols
from nmem.threads import store
from nmem.threads.store import EACH

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from sqlite3 import Connection

    from nmem.threads.store import Before

THRESHOLD = 0.5
"""From it on a prompt is about a line of work."""
LEANT = 0.3
"""The same of a prompt that leans on earlier work."""
WORDS, BRANCH, ENTITIES = 3, 0.3, 0.5
"""The rarest shared words that count; what a feature branch and what shared files, symbols and issues say."""
FEWEST = 1.5
"""A prompt with fewer rare words is measured as if it had so many."""
SUBJECT = 3
"""A prompt with so many words of its own has a subject, also where it says "still"."""
AFTER = frozenset(
    """too well then also either instead auch dann stattdessen aussi alors también entonces também então anche allora
    ook dan""".split()  # noqa: SIM905 - a list of words
)
"""A short prompt that ends so goes on with what was said before: "exclude the logs then"."""
REFERS = ("it", "them", "these", "those")
"""So does one that says it in the first place or the last, or after a verb: "document it", not "is it"."""
ASKS = ("is", "was", "does", "did", "has", "can", "could", "would", "should", "will", "are", "do")
BESIDE = ("what about", "how about", "what if", "und bei", "und was", "und wenn", "et pour", "y para")
"""So does one that begins so."""
SHORT, ASIDE = 8, 12
"""Words of a prompt that ends so, and of one that begins so."""
HEAD = 300
"""Characters of the first prompt that say what it is about."""
THREADS = 5
"""Lines of work within the timeout that are looked at: those active last."""
_NEWEST, _PROMPTS, _CLOSINGS, _FILES = 6, 12, 2, 40
"""What is read of a line of work: sessions, prompts, closing words of the agent, files; the newest of each."""
_SAID = 8
"""Prompts of a session of the project that say what is usual there."""
_FEW = 12
"""Below this many sessions a project's own rarity says little."""
_ENTITIES = 2
"""Shared files, symbols and issue numbers that count: the rarest."""


class About:
    """A line of work as far as a prompt can be about it."""

    __slots__ = ("_named", "_said", "_stems")

    def __init__(self, said: Sequence[str], files: Iterable[str]) -> None:
        names = {path_key(path).rpartition("/")[2] for path in files}
        self._stems = {name.rpartition(".")[0] or name for name in names}
        self._named = names | self._stems
        self._said = [text[:EACH] for text in said]

    def shared(self, words: set[str]) -> set[str]:
        """Those of some tokens that its texts and the names of its files have."""
        return self._found(words, [*self._said, " ".join(self._stems)], tokens)

    def named(self, entities: set[str]) -> set[str]:
        """Those of the files, symbols and issue numbers that its files and its texts name."""
        return entities & self._named | self._found(entities - self._named, self._said, _entities)

    @staticmethod
    def _found(wanted: set[str], texts: Iterable[str], read: Callable[[str], Iterable[str]]) -> set[str]:
        """What some texts have of what is wanted; a text is read only where it may have any."""
        left = set(wanted)
        for text in texts:
            if not left:
                break
            if _may_name(text.lower(), left):
                left.difference_update(read(text))
        return wanted - left


class Prompt:
    """A first prompt, beside what is usual in its project."""

    __slots__ = ("_asked", "_usual", "entities", "leans", "of_branch", "of_last", "onward", "words")

    def __init__(self, db: Connection, project_id: int, project: str, session_id: str, at: int, text: str) -> None:
        from nmem.retrieval.terms import CHAT  # on use: start-up stays short
        from nmem.retrieval.words import STOP
        from nmem.threads.leaning import leaning, of_a_branch

        head = _plain(text)[:HEAD]
        self.words = set(tokens(head)) - CHAT - STOP - JOINING - set(tokens(project))
        how = leaning("" if _chooses(head) else text)
        self.onward = _onward(head)
        """Whether a little that is shared says what it goes on with."""
        self.leans = bool(how.by) or self.onward
        """Whether it says that it goes on with something."""
        terse = self.onward or (bool(how.by) and (not how.said or _opens(head, how.by)))
        self.of_last = terse or (bool(how.by) and len(self.words - GENERAL) < SUBJECT)
        """Whether that is what was last, where it shares nothing with anything."""
        self.of_branch = of_a_branch(text)
        """Whether it is about a branch as such: its tests, its review."""
        self.entities = _entities(_plain(text, numbers=True)[: 2 * HEAD])
        self._asked = (db, project_id, session_id, at)
        self._usual: list[tuple[str, str]] | None = None

    def near(self, about: About, own: set[str]) -> float:
        """How much of what is rare it shares with a line of work, 0 to 1.5; `own`: that one's sessions."""
        shared, entities = about.shared(self.words), about.named(self.entities)
        if not shared and not entities:
            return 0.0
        if self._usual is None:
            self._usual = _usual(*self._asked)
        usual = [text for session_id, text in self._usual if session_id not in own]
        total = max(len(usual), _FEW) + 1.0

        def rare(word: str) -> float:
            says = 1.0 - log(1.0 + sum(word in text for text in usual)) / log(total)
            return says * (SAYS if word in GENERAL else 1.0)

        said = _most(map(rare, shared), WORDS)
        named = _most((rare(one.lstrip("#")) for one in entities), _ENTITIES)
        all_of = max(FEWEST, _most((SAYS if word in GENERAL else 1.0 for word in self.words), WORDS))
        return said / all_of + ENTITIES * named / _ENTITIES


def continued(
    db: Connection, project_id: int, session_id: str, branch: str, at: int, text: str, before: Sequence[Before]
) -> int | None:
    """The line of work that a session's first prompt goes on with; None: a new one.

    `before`: sessions that were active within the timeout, the most recent first. Raises sqlite3.Error.
    """
    threads: dict[int, bool] = {}
    feature = not store.shared(db, project_id, branch, at)
    for each in before:
        same = feature and each.branch == branch
        threads[each.thread_id] = threads.get(each.thread_id, False) or same
    if not threads:
        return None
    prompt = Prompt(db, project_id, store.project_name(db, project_id), session_id, at, text)
    on_it = next((thread_id for thread_id, same in threads.items() if same), None)
    if on_it is not None and (prompt.of_branch or prompt.leans):
        return on_it
    best, found = LEANT if prompt.of_last or prompt.onward else THRESHOLD, None
    if prompt.of_last and not (feature and store.worked_on(db, project_id, branch, at)):
        found = next(iter(threads))
    if not prompt.words and not prompt.entities:
        return found
    for thread_id, same in list(threads.items())[:THREADS]:
        about, sessions = _about(db, thread_id, at)
        score = prompt.near(about, sessions) + BRANCH * same
        if score > best or (score == best and found is None):
            best, found = score, thread_id
    return found


def _most(values: Iterable[float], number: int) -> float:
    """The sum of the largest ones."""
    return sum(sorted(values, reverse=True)[:number])


def _opens(text: str, cue: str) -> bool:
    """Whether a prompt begins with a cue: "continue with the rename"."""
    return text.lower().lstrip().startswith(cue)


def _chooses(text: str) -> bool:
    """Whether a prompt asks which of some things: "Which tests are slow?" has a subject, "which one?" has none."""
    said = words(text)
    return len(said) > 1 and said[0] == "which" and said[1] not in ("one", "ones")


def _onward(text: str) -> bool:
    """Whether a short prompt is worded as one that goes on: "exclude the logs then", "what about empty files?"."""
    said = words(text)
    begins = len(said) <= ASIDE and " ".join(said[:2]) in BESIDE
    if begins or not 1 < len(said) <= SHORT:
        return begins
    refers = said[0] in REFERS or said[-1] in REFERS or (said[1] in REFERS and said[0] not in ASKS)
    return refers or said[-1] in AFTER


def _about(db: Connection, thread_id: int, at: int) -> tuple[About, set[str]]:
    """What a line of work was about before a time, and its sessions."""
    sessions = store.newest_sessions(db, thread_id, at)
    said: list[tuple[int, str]] = []
    closed: list[tuple[int, str]] = []
    files: dict[str, None] = {}
    for session_id in sessions[:_NEWEST]:
        for closing, when, text in store.texts(db, session_id, at, _PROMPTS, _CLOSINGS):
            (closed if closing else said).append((when, text))
        if len(files) >= _FILES:
            continue
        files |= dict.fromkeys(store.touched_before(db, session_id, at, 2 * _FILES))
    texts = [text for _, text in sorted(said)[-_PROMPTS:]] + [text for _, text in sorted(closed)[-_CLOSINGS:]]
    return About(texts, list(files)[:_FILES]), set(sessions)


def _usual(db: Connection, project_id: int, session_id: str, at: int) -> list[tuple[str, str]]:
    """The newest sessions of a project before a time, each as one lower-case text: what is usual there."""
    out = []
    for other in store.recent_sessions(db, project_id, session_id, at):
        texts = store.texts(db, other, at, _SAID, _CLOSINGS)
        if texts:
            out.append((other, " ".join(text for _, _, text in texts).lower()))
    return out


def _plain(text: str, *, numbers: bool = False) -> str:
    """A text without addresses; `numbers`: what an address says of an issue stays."""
    if "://" not in text:
        return text
    return " ".join(
        word if "://" not in word else " ".join(f"#{one}" for one in issue_refs(word)) if numbers else ""
        for word in text.split()
    )


def _may_name(lower: str, wanted: set[str]) -> bool:
    """Whether a text in lower case may have one of some words or entities: to read it costs a hundred times as much."""
    return any(not one.isascii() or one.lstrip("#") in lower for one in wanted)


_named: dict[str, set[str]] = {}
_NAMED = 400
"""Texts whose names are remembered: settling asks for those of recent sessions again and again."""


def _entities(text: str) -> set[str]:
    """Files, symbols and issue numbers that a text names; not to be changed."""
    found = _named.get(text)
    if found is None:
        if len(_named) >= _NAMED:
            _named.clear()
        found = _named[text] = _names(text)
    return found


def _names(text: str) -> set[str]:
    return file_mentions(text) | symbols(text) | {"#" + number for number in issue_refs(text)}
