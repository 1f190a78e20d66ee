"""Lists an episode's completed work: facts of the records, and the agent's sentences that the records confirm."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nmem.episodes.narrate import cues, naming
from nmem.episodes.narrate.checks import Struggle
from nmem.episodes.narrate.ledger import Change, Commit, Ledger
from nmem.episodes.narrate.prose import Sentence, alike, clip, codes, sentences, short, size, some, within, words
from nmem.episodes.narrate.records import FAILED, OK, Action, Episode
from nmem.episodes.narrate.reply import account
from nmem.episodes.narrate.turns import Superseded, Turn, acts, distinct
from nmem.episodes.open_ends import REPORTED

_MOST_CLAIMS = 5
_FILES = 6
_ANSWERS = 6
_LOOKS = frozenset(("file_read", "search", "web_search", "web_fetch", "todo", "question", "skill"))
_SAME = 0.55
_BARE = 5
_RETOLD, _BEGINS = 0.8, 60
"""The part of a claim's words from which on an answer tells it, and the characters of its beginning."""
_LEAST = 2
"""Words with content of a claim that says more than that it is done."""
_COMMITTED = re.compile(r"(?:Committed|Pushed)(?:$|[.!]| \(asked| as\b| with\b| and pushed)")
"""What the commits say by themselves."""
_OPENER = re.compile(r"^(?:done|fixed it|all set|good)[.!:,]\s+(?=\w)", re.IGNORECASE)


def completed(
    episode: Episode,
    ledger: Ledger,
    ran: list[Struggle],
    grounds: Grounds,
    did: list[tuple[Turn, Sentence]],
    gone: Superseded,
    found: list[Turn],
    answered: list[str],
) -> list[str]:
    """Facts first, then the agent's own account of them, request by request; without what the answers tell."""
    out = _commits(ledger)
    out += [f"{what}: {where}" if where else what for what, where in dict.fromkeys(ledger.published)]
    claimed = _claims(episode, ledger, grounds, gone)
    told = {turn for turn, text in claimed if not text.startswith(REPORTED)}
    did = [(turn, one) for turn, one in did if not (turn.number in told and size(one.text) < _BARE)]
    silent = [turn for turn in found if turn.number not in told]
    results = _results(ledger, grounds, did, _accounts(silent, grounds, gone))
    new = [text for _, text in claimed if all(alike(words(text), words(other)) < _SAME for other in results)]
    claims = results + new[: max(2, _MOST_CLAIMS - len(results))]
    if results:
        claims = [text for text in claims if not text.startswith(REPORTED) or text in results]
    claims = [text for text in claims if not any(_repeats(text, one) for one in answered)]
    out += _installed(episode) + _delegated(episode)
    if not (ledger.standing() or ledger.undone() or ledger.kept_commits()):
        out += _ran(episode)
    return out + claims + files(ledger.standing()) + _checks(ran, ledger)


def _repeats(claim: str, answer: str) -> bool:
    """Whether an answer repeats a claim: any claim by its beginning, the agent's sentence also by most of its words."""
    told = claim.removeprefix(REPORTED)
    return claim[:_BEGINS] in answer or (told != claim and within(words(told), words(answer)) >= _RETOLD)


def _commits(ledger: Ledger) -> list[str]:
    kept = ledger.kept_commits()
    out = list(dict.fromkeys(_commit(one) for one in kept))
    if ledger.pushes and not any(one.undone for one in ledger.commits):
        branch = next((name for name in reversed(ledger.pushes) if name), "")
        out.append(f"Pushed {branch}" if branch else "Pushed")
    return out


def _accounts(found: list[Turn], grounds: Grounds, gone: Superseded) -> dict[int, str]:
    """How the agent summed each request up that something was edited for, where no first sentence of its tells it."""
    out = {}
    for turn in found:
        said = account(turn) if turn.changed else ""
        text = "; ".join(
            one for one in said.split("; ")
            if not (grounds.denies(one) or cues.LEFT.search(one) or _COMMITTED.match(one))
        )  # fmt: skip
        if len(words(text)) > _LEAST and not gone(turn.number, text):
            out[turn.number] = REPORTED + text
    return out


def _results(ledger: Ledger, grounds: Grounds, did: list[tuple[Turn, Sentence]], accounts: dict[int, str]) -> list[str]:
    """What the agent said of each request that changed something: its words, where they fit what was changed."""
    alone = not ledger.standing() and not ledger.kept_commits()
    if alone and ledger.undone():
        return []
    bare = {turn.number for turn, one in did if size(one.text) < _BARE}
    told = {turn: text for turn, text in _borne_out(grounds, did) if turn not in bare or turn not in accounts}
    out = [text for _, text in sorted({**accounts, **told}.items())]
    subjects = [words(one.subject) for one in ledger.kept_commits()]
    if subjects:
        out = [text for text in out if not _COMMITTED.match(text)]
    new = [text for text in out if not any(within(bag, words(text)) >= _RETOLD for bag in subjects)]
    return distinct(new, _SAME)[-_ANSWERS:]


def _borne_out(grounds: Grounds, did: list[tuple[Turn, Sentence]]) -> Iterator[tuple[int, str]]:
    """(number of the request, what was said of it) where the work bears it out."""
    for turn, one in did:
        text = _OPENER.sub("", one.text)
        if cues.HOLLOW.match(text) and size(text) >= _BARE:
            continue
        worked = bool(cues.DONE.match(text) or cues.DONE_ANY.search(text))
        if grounds.denies(one.raw) or cues.LEFT.search(text) or (cues.ADDRESSED.search(text) and not worked):
            continue
        if not worked and not _NOW.search(text) and not grounds.names(one.raw):
            continue
        names = " ".join(f"{act.file_path} {act.content[:1500]}" for act in turn.actions if act.outcome == OK)
        if size(one.text) < _BARE and worked:
            asked = "" if turn.ask.kind == "terse" else clip(" ".join(turn.ask.sentences[:1]), 110)
            if asked or len(words(one.text)) >= _LEAST:
                yield turn.number, f"{one.text.rstrip('.')} (asked: “{asked}”)" if asked else one.text
            continue
        if not words(one.text) & words(names) and not grounds.supports(one.raw):
            continue
        yield turn.number, text if worked else REPORTED + text


def _installed(episode: Episode) -> list[str]:
    """Packages that were added by name."""
    found: dict[str, None] = {}
    for action in episode.actions:
        if action.obs_type == "install" and action.outcome == OK and not action.halted:
            for line in _ADDS.findall(action.content[:1000]):
                packages = [word for word in line.split() if not word.isdigit()]
                if any("@" in word or "=" in word or len(word) > 2 for word in packages[2:]):
                    found[clip(" ".join(packages), 90)] = None
    return [f"Installed packages: {some(list(found), _INSTALLED, '; ', newest=True)}"] if found else []


def _ran(episode: Episode) -> list[str]:
    """The commands that did more than look, where they are the work: the newest of them, by what they are called."""
    done = (one for one in reversed(episode.actions) if one.obs_type != "mcp_call" and acts(one))
    named = (naming.name(one.content, one.obs_type, _described(one)) for one in done if not naming.inline(one.content))
    names = list(dict.fromkeys(name for name in named if not naming.looks(name, "")))
    return [f"Ran: {some(names[::-1], _NAMED, '; ', newest=True)}"] if names else []


def _described(action: Action) -> str:
    said = action.metadata.get("description")
    return said if isinstance(said, str) else ""


_NAMED, _PASSED, _INSTALLED = 6, 4, 3


def _delegated(episode: Episode) -> list[str]:
    """What was handed to subagents, by how each was called."""
    found = (one for one in episode.actions if one.obs_type == "task_spawn" and not one.halted)
    names = list(dict.fromkeys(clip(name, 60) for one in found if (name := _called(one))))
    return [f"Handed to subagents: {some(names, _HANDED, '; ')}"] if names else []


def _called(action: Action) -> str:
    said = action.metadata.get("description")
    return said if isinstance(said, str) and said else action.content.strip().split("\n", 1)[0]


_HANDED = 4
_ADDS = re.compile(
    r"\b(?:npm (?:install|i|add)|pnpm add|yarn add|bun add|pip3? install|uv (?:add|pip install)|cargo add"
    r"|go get|brew install|gem install|apt(?:-get)? install) [^\n;&|><]*[\w@][^\n;&|><]*"
)


def _commit(one: Commit) -> str:
    told = f"Committed {one.hash}" if one.hash else "Committed"
    size_told = f" ({one.files} files)" if one.files > 1 else ""
    return f"{told}: {clip(one.subject, 140)}{size_told}" if one.subject else told + size_told


def files(changes: list[Change]) -> list[str]:
    """One sentence a kind of change: created, edited, deleted."""
    out = [f"Moved {short(one.moved)} to {short(one.path)}" for one in changes if one.moved][:4]
    for verb, chosen in (
        ("Created", [one for one in changes if one.created and not one.deleted]),
        ("Edited", [one for one in changes if not one.created and not one.deleted and one.edits]),
        ("Deleted", [one for one in changes if one.deleted]),
    ):
        chosen.sort(key=lambda one: -one.edits)
        names = [short(one.path) + (f" ({one.edits} edits)" if one.edits > 2 else "") for one in chosen]
        if names:
            out.append(f"{verb} {some(names, _FILES)}")
    return out


def _checks(ran: list[Struggle], ledger: Ledger) -> list[str]:
    """The checks whose newest run passed; said only when no edit came after it."""
    last_edit = ledger.touched_at()
    good = [one for one in ran if one.kind in ("test", "build", "lint") and one.passed]
    out = []
    for word, chosen in (
        ("Passed", [one for one in good if one.last_at >= last_edit]),
        ("Passed, before the last edits", [one for one in good if one.last_at < last_edit]),
    ):
        names = [_check(one) for one in chosen]
        if names:
            out.append(f"{word}: {some(names, _PASSED, newest=True)}")
    return out


def _check(one: Struggle) -> str:
    """A check by its name, with what it counted and whether it was of some tests alone."""
    more = ", ".join(filter(None, ("some tests" * one.some, one.counts)))
    return f"{one.name} ({more})" if more else one.name


def _claims(episode: Episode, ledger: Ledger, grounds: Grounds, gone: Superseded) -> list[tuple[int, str]]:
    """(number of the request, sentence) of closing texts that tell of work which the records bear out; the newest text
    speaks first.
    """
    done = bool(ledger.standing() or ledger.kept_commits())
    if ledger.undone() and not done:
        return []
    kept: list[tuple[int, str, set[str]]] = []
    worked = {episode.turn(one.at) for one in episode.actions if one.obs_type not in _LOOKS}
    for saying in reversed(episode.closings()[-8:]):
        if episode.turn(saying.at) not in worked:
            continue  # it tells how things are, not what was done
        said = sentences(saying.text)
        if cues.DRAFT.search(saying.text[:300]):
            continue  # what follows is a text to be used, not an account
        found = [one for one in said if _is_claim(one) and grounds.supports(one.raw)]
        found = [one for one in found if not gone(episode.turn(saying.at), one.text)]
        found.sort(key=lambda one: -_telling(one, grounds))
        for one in found[:3]:
            text = clip(_with_subject(one), 220).rstrip(":")
            bag = words(text)
            if len(bag) >= _LEAST and all(alike(bag, other) < 0.55 for _, _, other in kept):
                kept.append((episode.turn(saying.at), text, bag))
            if len(kept) == _MOST_CLAIMS:
                break
        if len(kept) >= _MOST_CLAIMS:
            break
    if not kept and done and (first := _account(episode)):
        kept.append((-1, first, words(first)))
    commits = [words(one.subject) for one in ledger.kept_commits()]
    told = [(turn, text) for turn, text, bag in kept if all(alike(bag, other) < 0.9 for other in commits)]
    return told[::-1]


def _with_subject(one: Sentence) -> str:
    """A sentence after its bold label where it has no subject of its own: "Transcript entries: Now include the id"."""
    own = one.label.rsplit(" / ", 1)[-1]
    bare = _SUBJECTLESS.match(one.text) and own and not cues.DONE_LABEL.search(own)
    return f"{own[:1].upper()}{own[1:]}: {one.text[:1].lower()}{one.text[1:]}" if bare else one.text


_SUBJECTLESS = re.compile(r"(?:now (?:\w+s?|also)|set to|stored|used|uses|includes?|kept|handled)\b", re.IGNORECASE)


def _account(episode: Episode) -> str:
    """Where no sentence is borne out: how the agent itself summed the work up, said to be its words."""
    closings = episode.closings()
    said = sentences(closings[-1].text) if closings else []
    if (
        not (said and episode.actions)
        or cues.QUESTION.search(said[-1].text)
        or cues.DRAFT.search(closings[-1].text[:300])
    ):
        return ""
    for one in said[:8]:
        if not (cues.DONE.match(one.text) or cues.DONE_ANY.search(one.text) or _NOW.search(one.text)):
            continue
        talk = cues.TALK.match(one.text) or cues.ADDRESSED.search(one.text) or cues.LEFT.search(one.text)
        if 6 <= size(one.text) <= 60 and not one.item and not talk and not cues.IMPERATIVE.match(one.text):
            return REPORTED + clip(one.text, 200)
    return ""


def _is_claim(one: Sentence) -> bool:
    """A statement that something was done: by its verb, by its box, or by the heading it stands under."""
    text = one.text
    if not (8 if one.done == "|" else 3) <= size(text) <= 60 or cues.QUESTION.search(text) or one.done == " ":
        return False
    if one.label and (cues.LEFT_LABEL.search(one.label) or cues.ADDRESSED.search(one.label)):
        return False
    if _ANALYSIS.search(one.label):
        return False
    if cues.LEFT.search(text) or cues.ADDRESSED.search(text):
        return False
    if text[:1].islower() or text.endswith((":", "：")):
        return False
    if _NEGATED.search(text) or _CAPTION.match(text):
        return False
    if cues.DONE.match(text) or cues.DONE_ANY.search(text) or one.done == "x":
        return True
    if (
        one.done == "|"
        or (cues.STATE.match(text) and not _IS_DONE.match(one.label.rsplit(" / ", 1)[-1]))
        or cues.CHATTER.match(text)
        or _INFINITIVE.match(text)
        or _PAIR.search(text)
    ):
        return False
    # "Add x" under "Changes" may be a proposal; under "Done" it is not
    label = one.label.rsplit(" / ", 1)[-1]
    if one.item and size(text) >= _STATED and _IS_DONE.match(label):
        return True
    return one.item and bool(cues.IMPERATIVE.match(text)) and bool(one.label and cues.BASE_LABEL.search(one.label))


_ANALYSIS = re.compile(
    r"(?:analysis|\b(?:root )?cause|\bthe (?:problem|bug|issue)|\bproblem|background|diagnosis|investigation|before)"
    r"\W*(?: / |$)",
    re.IGNORECASE,
)
"""A heading below which items say how things were."""
_STATED = 4
_IS_DONE = re.compile(
    r"(?:what(?:'s| is| was) )?(?:done|completed|finished|working|완료|완료된 작업|feito)\W*$", re.IGNORECASE
)
"""A heading below which each item says how things stand now."""


_INFINITIVE = re.compile(r"[A-ZÀ-Ý]?[a-zà-ÿ]+(?:ar|er|ir)\b")
_NEGATED = re.compile(r"\b(?:does|do|is|are)(?:n't| not)\b|\bwas left\b", re.IGNORECASE)
_CAPTION = re.compile(r"[\w./-]+\.\w{1,5} [-–—:] (?!\w+ed\b)\w")
_PAIR = re.compile(r"^\S.{0,60} (?:→|->) ")
_NOW = re.compile(r"\bnow\b|\b(?:has|have) been\b|\b(?:was|were) \w+ed\b|\bchanges?\b", re.IGNORECASE)


def _telling(one: Sentence, grounds: Grounds) -> float:
    length = size(one.text)
    return (
        grounds.names(one.raw)
        + (1.0 if cues.DONE.match(one.text) else 0.0)
        + min(length, 16) / 16
        - (length > 35)
        - (one.done == "|")
    )


_DID = frozenset(
    (
        "command", "git_other", "git_push", "github", "install", "build", "test", "lint", "mcp_call", "file_edit",
        "file_write", "git_commit",
    )
)  # fmt: skip
_CLAIMS_TESTS = re.compile(
    r"\b(?:tests?|lint|build|checks?|suite)\b.{0,40}\b(?:pass(?:es|ed|ing)?|green|clean|succe\w+)\b"
    r"|\ball (?:tests? )?pass",
    re.IGNORECASE,
)
_HASH = re.compile(r"\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b")
_FILE = re.compile(r"[\w./~-]*\w\.[A-Za-z]{1,6}\b")
_ROOM = 60_000


class Grounds:
    """Names and words of the work that stands, and names of what was undone."""

    __slots__ = ("_bags", "_did", "_gone", "_hashes", "_names", "_stems", "checked")

    def __init__(self, episode: Episode, ledger: Ledger, *, checked: bool | None) -> None:
        standing = ledger.standing()
        self._names = {_base(change.path) for change in standing}
        self._stems = {name.rsplit(".", 1)[0] for name in self._names if len(name.rsplit(".", 1)[0]) > 4}
        self._gone = {_base(one.path) for one in ledger.changes.values() if not one.live} - self._names
        self._hashes = {one.hash for one in ledger.kept_commits() if one.hash}
        self._did = episode, standing
        self._bags: tuple[str, set[str]] | None = None
        self.checked = checked
        """Whether the newest checks passed; None when there were none."""

    def denies(self, sentence: str) -> bool:
        """Whether a claim names what was undone, a commit that is not there, or checks that did not pass."""
        low = sentence.lower()
        if any(name in low for name in self._gone) or (_CLAIMS_TESTS.search(sentence) and not self.checked):
            return True
        hashes = _HASH.findall(low)
        return bool(hashes) and not any(
            one.startswith(known) or known.startswith(one) for one in hashes for known in self._hashes
        )

    def supports(self, sentence: str) -> bool:
        """Whether a claim of work names what was changed or run, and nothing that was undone."""
        low = sentence.lower()
        if self.denies(sentence):
            return False
        hashes = _HASH.findall(low)
        named = {_base(one) for one in _FILE.findall(low)}
        if named & self._names or hashes:
            return True
        if any(stem in low for stem in self._stems):
            return True
        if self._bags is None:  # few stories ask: most claims name a file
            self._bags = _bags(*self._did)
        edited, ran = self._bags
        told = codes(sentence)
        if told and any(one in edited for one in told if len(one) > 3):
            return True
        bag = words(sentence)
        return len(bag) >= 3 and (alike(bag, ran) >= 0.55 or len(bag & ran) >= 4)

    def names(self, sentence: str) -> int:
        """How many changed files a sentence names."""
        low = sentence.lower()
        return sum(name in low for name in self._names) + sum(stem in low for stem in self._stems)


def _base(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1].lower()


def _bags(episode: Episode, standing: list[Change]) -> tuple[str, set[str]]:
    """The text of the edits that stand, and the words of all that was done."""
    live = {change.path for change in standing}
    edited: list[str] = []
    room = _ROOM
    for action in reversed(episode.actions):
        if action.outcome == FAILED or action.obs_type not in _DID:
            continue
        if action.obs_type in ("file_edit", "file_write") and action.file_path not in live:
            continue
        said = action.metadata.get("description")
        text = f"{action.content[:2400]} {said if isinstance(said, str) else ''} {action.file_path}"
        edited.append(text)
        room -= len(text)
        if room < 0:
            break
    whole = "\n".join(edited)
    return whole.lower(), words(whole)
