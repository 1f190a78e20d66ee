"""Computes the boundary detector's features from a prompt, the turns before it, and its own turn once ended.

Nothing here depends on earlier decisions: the past is a bag that fades, so one wrong cut never causes the next, and
what is older than some twenty turns has faded for good.

A turn's `agent` is what was done in it: {tools: {name: calls}, files: [path], said: the closing text, events: [commit,
interrupt ...]}.
"""

from __future__ import annotations

from math import fsum, log, log1p, sqrt

from nmem.episodes import lexicon as lx
from nmem.episodes import text as tx
from nmem.episodes.history import REMEMBERED
from nmem.episodes.store import SAID_CHARS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    Agent = Mapping[str, Any]
    Features = dict[str, float]
    Weighed = Mapping[str, Mapping[str, float]]
    Spoken = tuple[frozenset[str], frozenset[str]]
    """A turn as `ahead` compares it: the words asked, and all of its words."""
    Turn = tuple[list[str], list[str], list[tuple[str, str]], list[str], Spoken]

DECAY = 0.8
"""DECAY ** 18 < FADED: after REMEMBERED turns nothing is left."""
FADED = 0.02
COMMON_WEIGHT = 0.25
MAX_TOKENS = 300
FORM_CHARS = 1500
"""Enough to see a prompt's shape."""
INTENT_CHARS = 400
"""What is wanted stands at the head; below it is what was pasted."""
READ_TOOLS = ("read", "grep", "glob", "search", "ls", "view", "list", "fetch", "find", "codebase")
_LONG_WAIT = 600.0
_USUAL_WAIT = 3.0
"""Minutes; stands for a pause that was not recorded."""
_FEW = 0.7
"""Stands for what a text of few words leaves unsaid: its share of new words counts less."""
_ENOUGH = 7
_ENOUGH_SAID = 14
"""Words from which on a prompt, or a closing text, says enough to be called new."""
_HEAD_WORDS, _BEFORE_WORDS = 60, 40
_NEAR = 3
"""Turns within which a file counts as the one at hand."""
_LONG = 25
_BARE = 9
_SAYING = 3
"""Tokens from which on a prompt is one to compare with."""
AHEAD = 2
"""Turns after a prompt's own that settling looks at."""
_BEHIND = 3
"""Turns before a prompt that these are compared with."""
_HEAD_TOKENS = 60
"""About as many tokens as INTENT_CHARS hold."""
_DULL = 0.4
"""What a common word weighs there."""
_HOUR = 60.0
_PRAISED, _ONWARD, _REQUEST = 5, 14, 8
"""Words within which praise and then a turn to something else stand, and words that a request has more than."""

_MOST_KEYS = 6_000


def _weights(decay: float = DECAY) -> list[float]:
    """What a key weighs after so many turns."""
    out = [1.0]
    while out[-1] >= FADED:
        out.append(out[-1] * decay)
    return out


_WEIGHTS = _weights()
_SOON = _weights(0.6)
"""Of what only the last few turns are asked for."""
_NEVER = 99
_wide: dict[frozenset[str], tuple[str, ...]] = {}
_split: dict[str, list[str]] = {}
_SPLIT = 6
"""Texts whose words are remembered: those of one prompt, which are asked for again and again."""
_turns: dict[tuple[str, str, tuple[str, ...]], Turn] = {}
_TURNS = 8
"""Turns that are remembered as they were read: each is compared as the newest one, as one ahead and as one behind."""
_rarities: dict[int, list[float]] = {}


def _words(text: str) -> list[str]:
    """The words of a text; not to be changed."""
    found = _split.get(text)
    if found is None:
        if len(_split) >= _SPLIT:
            _split.clear()
        found = _split[text] = tx.words(text)
    return found


def has_event(agent: Agent, name: str) -> float:
    """1 when the turn recorded such an event."""
    return float(name in (agent.get("events") or ()))


def wide(vocabulary: frozenset[str]) -> tuple[str, ...]:
    """The vocabulary's words of scripts written without spaces; a single kana or Hangul syllable means too little."""
    found = _wide.get(vocabulary)
    if found is None:
        found = tuple(w for w in vocabulary if w[0] > "\u2fff" and (len(w) > 1 or "\u3400" <= w <= "\u9fff"))
        _wide[vocabulary] = found
    return found


def starts(words: list[str], vocabulary: frozenset[str], first: int) -> float:
    """1 when one of the first words is in the vocabulary, or begins so in a script without spaces."""
    prefixes = wide(vocabulary)
    return float(any(w in vocabulary or (w[0] > "\u2fff" and w.startswith(prefixes)) for w in words[:first]))


def any_in(words: Iterable[str], vocabulary: frozenset[str]) -> float:
    """1 when a word is in the vocabulary, or holds one of its words in a script without spaces."""
    inside = [v for v in wide(vocabulary) if len(v) > 1]
    return float(any(w in vocabulary or (w[0] > "\u2fff" and any(v in w for v in inside)) for w in words))


def covered(tokens: Iterable[str], bag: Fading | dict[str, float], common: frozenset[str]) -> float:
    """Weighted share of the tokens that the bag holds: common words count a quarter."""
    weights = [(COMMON_WEIGHT if token in common else 1.0, bag.get(token, 0.0)) for token in tokens]
    return fsum([weight * held for weight, held in weights]) / (fsum([weight for weight, _ in weights]) + 0.5)


class Fading:
    """A bag whose keys weigh 1 in the turn that named them last, less with each turn since, and nothing in the end."""

    __slots__ = ("newest", "seen", "turn")

    def __init__(self) -> None:
        self.seen: dict[str, int] = {}
        """Key -> the turn that named it last."""
        self.turn = 0
        self.newest = -REMEMBERED

    def __bool__(self) -> bool:
        return self.turn - self.newest < len(_WEIGHTS)

    def get(self, key: str, default: float = 0.0) -> float:
        """What a key weighs now."""
        seen = self.seen.get(key)
        if seen is None:
            return default
        age = self.turn - seen
        return _WEIGHTS[age] if age < len(_WEIGHTS) else default

    def age(self, key: str) -> int:
        """Turns since a key was named last; many when it never was, or has faded."""
        age = self.turn - self.seen.get(key, -_NEVER)
        return age if age < len(_WEIGHTS) else _NEVER

    def ages(self, keys: Iterable[str]) -> list[int]:
        """As `age`, of each key."""
        now, seen, never, most = self.turn, self.seen, -_NEVER, len(_WEIGHTS)
        return [age if (age := now - seen.get(key, never)) < most else _NEVER for key in keys]

    def later(self) -> None:
        """One turn more has passed."""
        self.turn += 1
        if len(self.seen) > _MOST_KEYS:
            self.seen = {key: seen for key, seen in self.seen.items() if self.turn - seen < len(_WEIGHTS)}

    def name(self, keys: Iterable[str]) -> None:
        """These keys were named in the newest turn."""
        named = dict.fromkeys(keys, self.turn)
        if named:
            self.seen.update(named)
            self.newest = self.turn


class Past:
    """The session so far as fading bags; bounded, because what fades is forgotten."""

    __slots__ = (
        "_last_text",
        "_used",
        "common",
        "dirs",
        "files",
        "last_agent",
        "last_prompt",
        "names",
        "prompts",
        "saids",
        "turns",
        "weighed",
    )  # fmt: skip

    def __init__(self, common: frozenset[str] = frozenset(), weighed: Weighed | None = None) -> None:
        self.common = common
        self.weighed = weighed or {}
        """What words speak for a boundary, by where they are said: see `heard`."""
        self._last_text = ""
        self.names = Fading()
        """Base names of files, touched or named."""
        self.prompts = Fading()
        self.saids = Fading()
        self.files = Fading()
        self.dirs = Fading()
        self.last_prompt: frozenset[str] = frozenset()
        self.last_agent: Agent = {}
        self.turns: list[Spoken] = []
        """The newest turns, as many as are remembered."""
        self._used: dict[str, int] | None = None

    def read(self, turns: Sequence[Mapping[str, Any]]) -> None:
        """Take in the turns of a session; of those that have faded only what does not fade."""
        faded = turns[:-REMEMBERED]
        for each in turns[len(faded) :]:
            self.add(each["text"], each["agent"])
        if not self.last_prompt:
            said = (tx.tokens(each["text"])[:MAX_TOKENS] for each in reversed(faded))
            self.last_prompt = frozenset(next((tokens for tokens in said if len(tokens) >= _SAYING), ()))

    @property
    def last_words(self) -> list[str]:
        """The words of the prompt before; split when they are asked for, which is once a prompt."""
        return _words(self._last_text)[:_BEFORE_WORDS]

    def add(self, prompt: str, agent: Agent) -> None:
        """Fade what was, add one finished turn."""
        for bag in (self.prompts, self.saids, self.files, self.dirs, self.names):
            bag.later()
        tokens, said, ends, named, words = _read(prompt, agent)
        self.prompts.name(tokens)
        self.saids.name(said)
        self.dirs.name([folder for _, folder in ends])
        self.files.name([key for key, _ in ends])
        self.saids.name(named)
        self.names.name([_base(key) for key, _ in ends])
        self.turns.append(words)
        if self._used is not None:
            _count_in(self._used, words[1])
        if len(self.turns) > REMEMBERED:
            self._drop(self.turns.pop(0)[1])
        if "." in prompt[:FORM_CHARS]:
            self.names.name(tx.file_mentions(prompt[:FORM_CHARS]))
        self._last_text = prompt[:INTENT_CHARS]
        if len(tokens) >= _SAYING:
            self.last_prompt = frozenset(tokens)
        self.last_agent = agent

    @property
    def used(self) -> dict[str, int]:
        """Word -> how many of the newest turns use it; counted from the first time that it is asked for."""
        if self._used is None:
            self._used = _counts(self.turns)
        return self._used

    def _drop(self, words: Iterable[str]) -> None:
        if (used := self._used) is None:
            return
        for word in words:
            used[word] -= 1
            if not used[word]:
                del used[word]


def _read(prompt: str, agent: Agent) -> Turn:
    """The tokens of a turn's prompt and of its closing text, the ends of the paths of its files, the words in their
    names, and what `ahead` compares; not to be changed.
    """
    key = prompt, str(agent.get("said") or ""), tuple(agent.get("files") or ())
    found = _turns.get(key)
    if found is None:
        if len(_turns) >= _TURNS:
            _turns.clear()
        tokens, said = tx.tokens(prompt)[:MAX_TOKENS], tx.tokens(key[1])[:MAX_TOKENS]
        ends = [tx.path_ends(path) for path in key[2]]
        named = [token for path, _ in ends for token in tx.tokens(_base(path))]
        asked = frozenset(tokens[:_HEAD_TOKENS])
        found = _turns[key] = tokens, said, ends, named, (asked, asked.union(said, named))
    return found


def _base(key: str) -> str:
    return key.rsplit("/", 1)[-1]


def spoken(prompt: str, agent: Agent) -> Spoken:
    """One turn as `ahead` compares it."""
    return _read(prompt, agent)[4]


def pasted(prompt: str) -> float:
    """1 when the prompt is mostly something's output: many lines, or a shell's, test's or compiler's own marks."""
    head = prompt[:INTENT_CHARS].lower()
    return float(prompt.count("\n") > 4 or any(mark in head for mark in lx.OUTPUT_MARKS))


def form(prompt: str) -> Features:
    """The prompt by itself: how long, what shape, how it opens."""
    words = _words(prompt[:FORM_CHARS])
    count = tx.word_count(prompt[:FORM_CHARS])
    head = prompt[:INTENT_CHARS].lower()
    short = count < 9 and bool(words)
    return {
        "len_log": log1p(min(count, 40.0)),
        "long": float(count >= _LONG),
        "lines_log": log1p(prompt[: tx.MAX_CHARS].count("\n")),
        "asks": float("?" in head or "？" in head),
        "ack": sum(word in lx.ACK for word in words) / len(words) if short else 0.0,
        "house": any_in(words, lx.HOUSE) if count < 12 else 0.0,
        "anaphor": starts(words, lx.ANAPHOR, 2),
        "switch": float(any(s in head[:160] for s in lx.SWITCH)),
        "returns": float(any(s in head[:160] for s in lx.RETURNS)),
        "wish": float(any(s in head for s in lx.WISH)),
        "machine": float(head.lstrip()[:1] == "<" and head.lstrip()[1:2].isalpha()),
        "praised_on": float(
            count > _REQUEST and any_in(words[:_PRAISED], lx.PRAISE) and any_in(words[:_ONWARD], lx.ONWARD)
        ),
    }


def context(prompt: str, gap: float | None, past: Past) -> Features:
    """The prompt against the fading past and the turn that just ended; the gap is in minutes."""
    tokens = set(tx.tokens(prompt[:INTENT_CHARS])[:MAX_TOKENS])
    named = tx.file_mentions(prompt[:FORM_CHARS])
    known = any(past.names.age(name) < _NEVER for name in named)
    agent = past.last_agent
    said = str(agent.get("said") or "").lower()
    spoken = heard(prompt, past)
    fresh = 1.0 - near(tokens, _WEIGHTS, past.prompts, past.saids)
    waited = log1p(min(max(0.0, gap or _USUAL_WAIT), _LONG_WAIT))
    return {
        "cover_last": covered(tokens, dict.fromkeys(past.last_prompt, 1.0), past.common),
        "repeat": float(len(tokens) > 2 and len(tokens & past.last_prompt) >= 0.8 * len(tokens)),
        "gap_log": waited,
        "gap_long": float((gap or 0.0) > _HOUR),
        "gap_pasted": waited * pasted(prompt),
        "prev_asks": float("?" in said[-120:] or "？" in said[-120:] or any(a in said for a in lx.ASKING)),
        "prev_stop": has_event(agent, "interrupt"),
        "names_new": float(bool(named) and not known),
        "names_known": float(known),
        "far_asked": 1.0 - near(tokens, _SOON, past.prompts),
        "far_said": 1.0 - near(tokens, _SOON, past.saids),
        "fresh": fresh,
        "fresh_much": min(len(tokens) / _ENOUGH, 1.0) * fresh,
        "put_away": fresh * float(len(tokens) > _SAYING and not house(_words(prompt)) and house(past.last_words)),
        **{place: weight(spoken[place], past.weighed.get(place, {})) for place in PLACES},
    }


def house(words: Sequence[str]) -> bool:
    """Whether a prompt is bare housekeeping: what was done is committed, pushed, merged."""
    return len(words) < _BARE and any_in(words, lx.HOUSE) > 0


def heard(prompt: str, past: Past) -> dict[str, set[str]]:
    """The words that are weighed, by where they are said: in the prompt, the one before it, the answer to that."""
    said = str(past.last_agent.get("said") or "")[:SAID_CHARS]
    return {
        "worded": set(_words(prompt[:FORM_CHARS])[:_HEAD_WORDS]),
        "worded_before": set(past.last_words),
        "answered": set(tx.words(said)),
    }


PLACES = ("worded", "worded_before", "answered")


def weight(words: set[str], weighed: Mapping[str, float]) -> float:
    """What the words speak for a boundary; sorted, so that the sum is the same in every process."""
    return round(sum(sorted(weighed[word] for word in words if word in weighed)), 6)


def near(tokens: set[str], weights: Sequence[float], *bags: Fading) -> float:
    """Share of the tokens that were named in the bags, by how long ago."""
    ages = [bag.ages(tokens) for bag in bags]
    newest = ages[0] if len(ages) == 1 else map(min, *ages)
    return fsum([weights[age] for age in newest if age < len(weights)]) / (len(tokens) + _FEW)


def turn(agent: Agent, past: Past, prompt: str = "") -> Features:
    """What the turn after the prompt did, against the same past. Known only when it ends."""
    _, tokens, ends, _, _ = _read(prompt, agent)
    files = {key for key, _ in ends}
    dirs = {folder for _, folder in ends}
    said = set(tokens)
    both = {t: max(past.prompts.get(t, 0.0), past.saids.get(t, 0.0)) for t in said}
    fresh = 1.0 - near(said, _WEIGHTS, past.prompts, past.saids)
    return {
        "t_files_new": strangers(files, past.files),
        "t_dirs_new": strangers(dirs, past.dirs),
        "t_said_known": covered(said, both, past.common),
        "t_commit": has_event(agent, "commit"),
        "t_far_asked": 1.0 - near(said, _SOON, past.prompts),
        "t_far_said": 1.0 - near(said, _SOON, past.saids),
        "t_fresh": fresh,
        "t_fresh_much": min(len(said) / _ENOUGH_SAID, 1.0) * fresh,
        "t_reads_log": log1p(_calls(agent, READ_TOOLS)),
        "t_calls_log": log1p(_calls(agent, ("",))),
        "t_never": sum(past.files.age(key) == _NEVER for key in files) / (len(files) + 1),
        "t_at_hand": float(any(past.files.age(key) < _NEAR for key in files)),
        "t_said_log": log1p(min(len(str(agent.get("said") or "")), SAID_CHARS) / 20),
    }


def turned(prompt: str, agent: Agent, past: Past, after: Sequence[Mapping[str, Any]] = ()) -> Features:
    """What is known of a prompt once its turn has ended; `after`: the turns that have followed, the next one first."""
    following = [spoken(str(each.get("text") or ""), each.get("agent") or {}) for each in after[:AHEAD]]
    return {**turn(agent, past, prompt), **ahead(spoken(prompt, agent), following, past)}


def _calls(agent: Agent, kinds: tuple[str, ...]) -> int:
    """How many of the turn's calls were of these kinds."""
    return sum(number for tool, number in (agent.get("tools") or {}).items() if any(e in tool.lower() for e in kinds))


def strangers(keys: set[str], bag: Fading) -> float:
    """Faded share of the keys that the past does not hold; 0 when there is nothing to compare."""
    if not keys or not bag:
        return 0.0
    return 1.0 - fsum([bag.get(key, 0.0) for key in keys]) / len(keys)


def ahead(now: Spoken, after: Sequence[Spoken], past: Past) -> Features:
    """What the turns that follow say of a prompt: whether the session goes on with its subject or with the one before.

    `now`: the prompt's own turn; `after`: the next ones, AHEAD at most, none while there are none.
    """
    behind = past.turns[-_BEHIND:]
    unsaid = now[0].difference(past.common, *[words for _, words in behind])
    next_asked = frozenset[str]().union(*[asked for asked, _ in after]) - past.common
    last = behind[-1][0] if behind else frozenset[str]()
    return {
        "a_like": _like((now, *after), behind, past),
        "a_carried": log1p(len(unsaid & next_asked)),
        "a_back": log1p(len((next_asked & last) - now[0])),
        "a_known": float(bool(after)),
    }


def _like(these: Sequence[Spoken], those: Sequence[Spoken], past: Past) -> float:
    """The cosine of the words of two runs of turns; each word by how few of the turns use it."""
    here, there = _counts(these), _counts(those)
    turns, common, used = len(past.turns) + len(these), past.common, past.used
    rarity = _rarity(turns)
    often = [1.0 + log(many or 1) for many in range(max(len(these), len(those)) + 1)]
    left = {
        word: often[many] * (rarity[used.get(word, 0) + many] * (_DULL if word in common else 1.0))
        for word, many in here.items()
    }
    right = {
        word: often[many] * (rarity[used.get(word, 0) + here.get(word, 0)] * (_DULL if word in common else 1.0))
        for word, many in there.items()
    }
    size = sqrt(fsum([value**2 for value in left.values()]) * fsum([value**2 for value in right.values()]))
    both = fsum([value * right[word] for word, value in left.items() if word in right])
    return round(both / size, 6) if size else 0.0


def _rarity(turns: int) -> list[float]:
    """What a word says that so many of all turns use, by how many these are."""
    found = _rarities.get(turns)
    if found is None:
        _rarities.clear()  # a session's turns are compared one after the other: lists of all of them would grow squared
        found = _rarities[turns] = [log((turns + 1.5) / (many + 0.5)) for many in range(turns + 1)]
    return found


def _counts(run: Iterable[Spoken]) -> dict[str, int]:
    count: dict[str, int] = {}
    for _, words in run:
        _count_in(count, words)
    return count


def _count_in(count: dict[str, int], words: Iterable[str]) -> None:
    for word in words:
        count[word] = count.get(word, 0) + 1
