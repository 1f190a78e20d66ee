"""Finds repeated requests across sessions, and files read again and again without a result."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from nmem.learn.find import Finding
from nmem.learn.kinds import Kind
from nmem.learn.learning import AGAIN, OPEN, REPEATED_INTENT, UNRESOLVED_READ, WEAK
from nmem.learn.patterns import SHORT, STRONG, Asked, Met, Pattern, Project
from nmem.learn.rows import Said
from nmem.retrieval import naming
from nmem.retrieval.background import Background
from nmem.retrieval.terms import CHAT
from nmem.sanitize import whole
from nmem.text import at_word

ALIKE = 0.6
"""Rarity of the words two intents share, beside that of all their words, from which they ask for the same."""
FEW = 3
"""Words and things an intent must have to be compared, two of them words: `commit this` is no question."""
SHORT_TEXT = 600
"""Characters up to which a prompt in the midst of an episode is a request that may be made again."""
ASKED = "asked"
"""The kind of what a session says of its prompts."""
HEAD = 400
_WORDS = 2
_TWICE = 2
_ADDRESS = re.compile(r"\S+://\S+")
_LINKED = re.compile(r"://\S+/(?:issues|work_items|browse)/(\d+)")
_TICKET = re.compile(r"\b[A-Z]{2,10}-\d{1,6}\b")
_TROUBLE = re.compile(
    r"\b(?:fails?|failing|failed|broken|breaks|still|again|flaky|crash\w*|hangs?|stuck|regression|bug|wrong|"
    r"(?:does|is|are|did|can|will|was)(?:n[’']?t| not))(?!\w)",
    re.IGNORECASE,
)
"""How people say that something is not as it should be."""
_REVIEWS = re.compile(r"\b(?:review|explain|summar\w+|describe|what is|what does|list)\b", re.IGNORECASE)
"""What is asked for without anything to be changed."""
_DOCUMENTS = frozenset(("changelog", "readme", "todo", "roadmap", "contributing"))
"""Files that there is one of."""
_THING, _URL = "<thing>", "<url>"
_NAMING = re.compile(r"[-_/.#@0-9]")
_MOST = 1_500
"""Requests of a project that are compared: each with every other."""
_TITLE = 109
"""Characters of a title; one of `read.CUT` was cut by an older nmem."""
_EXCERPT = 200
_NOT_SOURCES = ("docs/", "doc/", "node_modules/", ".claude/", "vendor/", "adr/", "/", "~")
_NOT_CODE = (
    ".md", ".mdx", ".txt", ".json", ".toml", ".yaml", ".yml", ".lock", ".rst", ".log", ".jsonl", ".cfg", ".ini",
    ".mod",
)  # fmt: skip


def findings(prompts: Sequence[Said]) -> list[Finding]:
    """The short requests of a session, each once."""
    found: dict[str, Finding] = {}
    for said in prompts:
        key = " ".join(_form(said.text)) if len(said.text) <= SHORT_TEXT and not _no_request(said.text) else ""
        if key and key not in found and _comparable(key.split(" ")):
            one = found[key] = Finding(ASKED, key[:300], _line(said.text)[:_EXCERPT])
            one.failures = [{"id": None, "at": said.at, "p": said.prompt_id, "x": one.title}]
    return list(found.values())


def _requests(project: Project) -> list[Asked]:
    """What was asked in a project: intents of episodes, and what was asked for in the midst of one; oldest first, of
    many the newest."""
    asked = [one for one in project.asked if not one.resumes and not _no_request(one.intent)]
    threads = {one.session_id: one.thread_id for one in project.asked}
    known = {one.prompt_id for one in project.asked}
    for session, one in project.findings:
        for each in one.failures if one.kind == ASKED else ():
            at, prompt = int(str(each["at"])), int(str(each["p"]))
            if prompt not in known:
                text, thread = str(each["x"]), threads.get(session)
                asked.append(Asked(0, session, thread, prompt, at, text, False, {}, {}, 0, 0, False))
    return sorted(asked, key=lambda one: (one.at, one.prompt_id))[-_MOST:]


def _no_request(text: str) -> bool:
    """Whether a text is a command of the client or something pasted."""
    return text.lstrip().startswith(("/", "<"))


def intents(project: Project) -> list[Pattern]:
    """The same asked in several sessions that do not go on with one another, be it of other things each time."""
    asked = _requests(project)
    tokens = [_form(one.intent) for one in asked]
    near = _near({at: found for at, found in enumerate(tokens) if _comparable(found)})
    groups = {at: near[at] for at in list(near)[::-1]}
    taken: set[int] = set()
    out: list[Pattern] = []
    for enough in (project.enough, project.enough - SHORT):
        for at, alike in groups.items():
            group = [asked[one] for one in alike if one not in taken]
            if at not in taken and len(_apart(group)) >= enough:
                taken.update(alike)
                out.append(_intent(group, asked[at], weak=enough < project.enough))
    return out


def _troubles(project: Project) -> list[Pattern]:
    """The same trouble reported in two sessions: what was done about it in the first did not last."""
    asked = [
        one
        for one in _requests(project)
        if _TROUBLE.search(one.intent[:HEAD]) and not _REVIEWS.search(one.intent[:HEAD])
    ]
    forms = {at: found for at, one in enumerate(asked) if _comparable(found := _form(one.intent))}
    taken: set[int] = set()
    out = []
    for at, alike in list(_near(forms).items())[::-1]:
        group = [asked[one] for one in alike if one not in taken]
        if at not in taken and len({one.session_id for one in group}) >= STRONG:
            taken.update(alike)
            key = " ".join(sorted(forms[min(alike)])[:24])
            made = _looked(key, f"{AGAIN}{_titled(asked[at].intent)}", group, [])
            out.append(made)
    return out


def _form(intent: str) -> list[str]:
    """The words of an intent, each once, and a sign in place of each thing that it names, whichever that is."""
    out: dict[str, None] = {}
    for word in intent[:HEAD].split():
        out.update(dict.fromkeys(_signs(word)))
    return list(out)


@lru_cache(maxsize=20_000)
def _signs(word: str) -> tuple[str, ...]:
    """What a word of an intent stands for; projects use the same words again and again."""
    bare = word.strip(".,;:!?()[]{}<>`'\"*").lower()
    if "://" in bare:
        parts = [part for part in re.split(r"[/?#]", bare.partition("://")[2]) if part.isalpha()]
        return (f"{_URL}{parts[-1] if parts else ''}",)
    if (document := bare.strip("@").removesuffix(".md")) in _DOCUMENTS:
        return (document,)
    if _NAMING.search(bare.strip("-")):
        return (_THING,)
    return tuple(each.replace("yse", "yze") for each in naming.tokens(bare))


def _comparable(form: Sequence[str]) -> bool:
    """Whether an intent says enough to be called the same as another."""
    said = [word for word in form if word != _THING and not word.startswith(_URL) and word not in CHAT]
    return len(form) >= FEW and len(said) >= _WORDS


def _near(intents: Mapping[int, Sequence[str]]) -> dict[int, list[int]]:
    """For each intent those that say the same, itself among them, by the rarity that words have in the project.

    Two of them share at least `ALIKE` of what either weighs: so many words as the heaviest ones of an intent take to
    weigh that. Only with those that share so many is it compared; they are counted for all others at once.
    """
    background = Background(list(intents.values()))
    rarity = {word: background.rarity(word) for found in intents.values() for word in found}.__getitem__
    sets = {at: frozenset(found) for at, found in intents.items()}
    weight = {at: sum(map(rarity, found)) for at, found in intents.items()}
    near: dict[int, list[int]] = {at: [at] for at in intents}
    places = list(intents)
    having: dict[str, int] = defaultdict(int)
    """Word -> the intents before this one that have it, a bit each."""
    for place, at in enumerate(places):
        mine = sets[at]
        for other in _places(_sharing([having[word] for word in mine], _fewest(mine, rarity, weight[at]))):
            one = places[other]
            shared = mine & sets[one]
            least = ALIKE / (1 + ALIKE) * (weight[at] + weight[one])
            if sum(map(rarity, shared)) >= least > 0:
                near[at].append(one)
                near[one].append(at)
        for word in mine:
            having[word] |= 1 << place
    return {at: sorted(found) for at, found in near.items()}


def _fewest(words_of: Iterable[str], rarity: Callable[[str], float], weight: float) -> int:
    """How many words an intent shares at least with one that says the same."""
    number, left = 0, ALIKE * weight * 0.999
    for each in sorted(map(rarity, words_of), reverse=True):
        if left <= 0:
            break
        number, left = number + 1, left - each
    return max(FEW - 1, number)


def _sharing(having: Iterable[int], least: int) -> int:
    """The places that stand in at least so many of some sets of places, which are numbers with a bit a place."""
    digits: list[int] = []  # of how many sets a place stands in: in binary, a number of bits for each digit
    for places in having:
        carry = places
        for at, digit in enumerate(digits):
            if not carry:
                break
            digits[at], carry = digit ^ carry, digit & carry
        if carry:
            digits.append(carry)
    if least >> len(digits):
        return 0
    more, same = 0, -1
    for at in range(len(digits) - 1, -1, -1):
        if least >> at & 1:
            same &= digits[at]
        else:
            more |= same & digits[at]
            same &= ~digits[at]
    return more | same


def _places(bits: int) -> Iterator[int]:
    """The places of the bits that are set, in one pass: the number has a bit for each intent."""
    digits = f"{bits:b}"[::-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def _subject(intent: str) -> set[str]:
    """The tickets and source files that an intent names."""
    head = intent[:HEAD]
    linked = {f"#{number}" for number in _LINKED.findall(head)}
    tickets = {found.lower() for found in _TICKET.findall(_ADDRESS.sub(" ", head))}
    issues = {f"#{number}" for number in naming.issue_refs(_ADDRESS.sub(" ", head))}
    files = {each for each in naming.file_mentions(head) if "." in each and _source(each)}
    return linked | tickets | issues | files


def _apart(group: Sequence[Asked]) -> set[object]:
    """What counts as a time it was asked: a session, or all sessions of one thread together."""
    return {("t", one.thread_id) if one.thread_id else ("s", one.session_id) for one in group}


def _intent(group: Sequence[Asked], newest: Asked, *, weak: bool) -> Pattern:
    first = min(group, key=lambda one: (one.at, one.unit_id))
    key = " ".join(sorted(set(naming.tokens(first.intent[:HEAD])))[:24])
    met = [Met(one.session_id, one.at, None, one.prompt_id, _line(one.intent)[:_EXCERPT]) for one in group]
    met.sort(key=lambda one: (one.at, one.prompt_id or 0))
    made = Pattern(REPEATED_INTENT, key[:300], _titled(newest.intent), met, len(met))
    made.state = WEAK if weak else OPEN
    edited: dict[str, int] = defaultdict(int)
    for one in group:
        for path in one.edits:
            edited[path] += 1
    made.files = [path for path, number in sorted(edited.items(), key=lambda each: (-each[1], each[0])) if number > 1][
        :8
    ]
    return made


def _titled(intent: str) -> str:
    """The whole sentences of an intent that fit a title, else its first words."""
    line = _line(intent)
    return whole(line, _TITLE) or at_word(line, _TITLE)


def _line(intent: str) -> str:
    lines = [line.strip(" #*") for line in intent.split("\n") if line.strip(" #*")]
    if not lines:
        return ""
    return lines[1] if len(lines) > 1 and lines[0].endswith(":") else lines[0]


def reads(project: Project) -> list[Pattern]:
    """What is looked into again and nothing comes of it: tickets and source files of episodes that changed nothing.

    A ticket or file that is named in two sessions, and that no episode that names it made a change for; a trouble that
    is reported in two; a source file that is read in several, and that nobody changed from then on.
    """
    return [*_subjects(project), *_troubles(project), *_files(project)]


def _subjects(project: Project) -> list[Pattern]:
    looked: dict[str, list[Asked]] = defaultdict(list)
    settled: set[str] = set()
    for one in project.asked:
        named = _subject(one.intent)
        if one.edits:
            settled |= named
        elif not _REVIEWS.search(one.intent[:HEAD]):
            for each in named:
                looked[each].append(one)
    out: list[Pattern] = []
    for subject, group in looked.items():
        if subject not in settled and len({one.session_id for one in group}) >= STRONG:
            title = f"{subject} is looked into again and again, and nothing comes of it"
            out.append(_looked(subject, title, group, [subject] if _source(subject) and "." in subject else []))
    return out


def _files(project: Project) -> list[Pattern]:
    looked: dict[str, list[Asked]] = defaultdict(list)
    edited: dict[str, int] = {}
    for one in project.asked:
        for path in one.edits:
            edited[path] = max(one.at, edited.get(path, 0))
        if not one.edits and not _REVIEWS.search(one.intent[:HEAD]):
            for path, number in one.reads.items():
                if _source(path):
                    looked[path] += [one] if number >= _TWICE else []
    out = []
    for path, group in looked.items():
        if edited.get(path, 0) >= min([one.at for one in group], default=0):
            continue
        stuck = [one for one in group if one.failures >= _TWICE or one.interrupted]
        if len(_apart(group)) >= project.enough or len(_apart(stuck)) >= project.enough - SHORT:
            made = _looked(path, f"{path} is looked into again and again, and nothing comes of it", group, [path])
            made.state = OPEN if len(_apart(group)) >= project.enough else WEAK
            out.append(made)
    return out


def _looked(key: str, title: str, group: Sequence[Asked], files: list[str]) -> Pattern:
    met = [Met(one.session_id, one.at, None, one.prompt_id, _line(one.intent)[:_EXCERPT]) for one in group]
    met.sort(key=lambda one: (one.at, one.prompt_id or 0))
    made = Pattern(UNRESOLVED_READ, key[:300], title, met, len(met))
    made.files = files
    return made


def _source(path: str) -> bool:
    low = path.lower()
    return not low.startswith(_NOT_SOURCES) and not low.endswith(_NOT_CODE) and low[1:2] != ":"


KINDS = (
    Kind(REPEATED_INTENT, find=lambda _rows, said: findings(said), conclude=lambda project, _found: intents(project)),
    Kind(UNRESOLVED_READ, conclude=lambda project, _found: reads(project)),
)
