"""Makes titles of episodes, sessions and threads from prompts, commits and files: one line that states the goal.

Whose word counts, strongest first: the person's name for it, the agent's, a model's; the client's own title of the
session; the heading of a plan or a commit that tells the episode; the person's clause that asks for it; the phrases
that tell most of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from nmem.conversation.cues import lazy
from nmem.episodes.narrate.cues import APPROVAL, REQUEST
from nmem.episodes.narrate.prompts import TERSE, Ask, read
from nmem.episodes.titles.goal import HAVE, goal, parts, verb
from nmem.episodes.titles.lists import listed
from nmem.episodes.titles.phrases import Weighed, choose, file, headline, phrases, together, weighed
from nmem.episodes.titles.weights import keys, weights, worth

ROOM, ELLIPSIS = 60, "…"
"""Characters of a title."""
_CLAUSE, _COMMIT, _ONLY_COMMIT, _WHOLE = 0.7, 0.6, 0.5, 0.5
"""How much of what the phrases tell a clause, a commit's subject (one of several, the only one) or the first sentence
must tell to stand instead.
"""
_PLANNED, _LEAST = 8, 1.0
"""Prompts among which a plan that is carried out names the episode, and what its heading must tell of it."""
_SHORT, _CUT = 20, 80
"""Characters of a clause that may be a title, and of a sentence that may be cut to one."""
_TELLING = 2
"""Words with content that make a title."""
_TYPE = lazy(r"^(?:\w{2,10}(?:\([^)]*\))?!?:|\[[^\]]{1,20}\]|[A-Z]{2,10}-\d+:?)\s+")
_REFERENCE = lazy(r"\s*\(#\d+\)$")
_MARKS = lazy(r"[*`#]+|\u200d(?!\w)")
"""What shows nothing in a title; a joined emoji that is cut would leave its joiner behind."""
_SECRET = lazy(r"\[REDACTED\b[^\]\n]{0,80}(?:\]|$)(?:[\s,]*\[REDACTED\b[^\]\n]{0,80}(?:\]|$))*")
"""Markers of what redaction took out, the last one maybe cut: nothing was said there."""
_LEAD = lazy(r"^(?:\d{1,2}[.)] (?=\w)|(?:question|note|task|todo|fyi|ps) ?: )", re.IGNORECASE)
"""What leads a sentence and is no part of its matter: the number of a list, "Question:"."""
_GREETING = lazy(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|day)|yo|hola|q|quit|exit|test|none)\b\W*$", re.IGNORECASE
)
_PLAN = lazy(r"^implement (?:the )?(?:following|this) plan\W*$", re.IGNORECASE)
_LOG = lazy(r"^\s*(?:\d{4}-\d\d-\d\d|\[?\d\d:\d\d|at \S+\(|Traceback|File \"|\S+Error:|[{\[<|$>])")
_SAID = 24
"""Characters in which a sentence says that something has been done."""
_DENSE = lazy(r"[가-힣ぁ-んァ-ヶ一-龯]")
_OPTION = lazy(r"--[a-z]")
_TALKS = lazy(
    r"(?:i|we|you|he|she|it|they|this|that|there|these|correction|sorry|until|currently|yesterday|earlier|see|remember|forgot)"
    r"(?:['’]\w+)?\b[,:]?(?! ?[/.(])",
    re.IGNORECASE,
)
"""How a sentence begins that talks: no name of work."""
_WANTED = lazy(r"^(?:the )?user (?:wants?|wanted|asked|would like|needs?|needed)(?: me)?(?: to| for)? ", re.IGNORECASE)
_ENDS = listed(
    """
    of in on for to from with into by at via and or the a an between without using as like than
    that which who when while where if because since so but then do does did is are was were be been not
    we i you it they this these those my our your their its just also only very more most some any all
    """
)


_ANY = frozenset(
    word[:5]
    for word in listed(
        """
        issue issues report reports bug bugs following pr prs pull request requests review reviews comment comments
        change changes branch feature ticket task tasks feedback error errors advisory finding findings analysis
        analyze analyse investigate investigation problem problems test tests coverage fix fixes fixing lint build ci
        work code file files project repo repository plan open address check look again update latest last local
        failing fails failed fail run running step phase implement implementation merge conflict conflicts commit
        """
    )
)
"""What is said of any work, by its first five letters."""


class Material(NamedTuple):
    """What there is of an episode: all may be empty."""

    prompts: Sequence[str] = ()
    said: Sequence[str] = ()
    """The agent's closing texts, in order."""
    commits: Sequence[str] = ()
    """Subjects of the commits that stand."""
    files: Sequence[str] = ()
    client: str = ""
    """The client's own title of the session."""


def says(text: str) -> bool:
    """Whether a text says what something is about: no bare reply, greeting, command, path, log or lead to a plan."""
    bare = " ".join(text.split())
    if not bare or _GREETING.match(bare) or _PLAN.match(bare) or _LOG.match(bare):
        return False
    if " " not in bare and (bare[0] in "/~.@" or "/" in bare or "\\" in bare):
        return False
    rest = APPROVAL.sub("", bare).strip()
    dense = any(char > "\u2e7f" for char in bare)
    return bool(rest) and (dense or bool(keys(rest)))


def without_markers(text: str) -> str:
    """A text with an ellipsis in place of what redaction took out: a marker names nothing."""
    return _SECRET.sub(ELLIPSIS, text) if "[REDACTED" in text else text


def fit(text: str, room: int = ROOM) -> str:
    """A text on one line of at most `room` characters: whole words, an ellipsis for what is cut."""
    text = " ".join(_MARKS.sub("", without_markers(text)).split()).rstrip(" .:;,–—-\\")
    text = text.lstrip(" .:;,–—\\" if _OPTION.match(text) else " .:;,–—-\\")
    text = _LEAD.sub("", text).replace(" : ", ": ")
    if len(text) > room:
        cut = text[:room]
        words = (cut[: cut.rfind(" ")] if " " in cut else cut[: room - 1]).split()
        while len(words) > 1 and (words[-1].lower().strip(",;:") in _ENDS or words[-1].endswith(("'s", "’s"))):
            words.pop()
        text = " ".join(words).rstrip(" .:;,–—-(") + ELLIPSIS
    named = set(text.split(" ", 1)[0]) & set("._/\\")
    return text if named else text[:1].upper() + text[1:]


def made(material: Material) -> str:
    """The title that the records of an episode give it; "" where they say nothing at all."""
    prompts, told_by, commits = (
        [without_markers(text) for text in texts] for texts in (material.prompts, material.said, material.commits)
    )
    material = material._replace(prompts=prompts, said=told_by, commits=commits)
    asks = [read(text) for text in material.prompts]
    opening = next((at for at, ask in enumerate(asks) if _tells(ask)), 0)
    asked = [" ".join((ask.title, ask.goal, *ask.sentences, ask.error)) for ask in asks[opening:]]
    said = [_MARKS.sub("", text) for text in material.said]
    known = weights(asked, [*said, *material.commits], [file(path) for path in material.files])
    if says(material.client) and set(keys(material.client)) & set(known):
        return fit(material.client)
    if opening < len(asks) and asks[opening].kind in ("plan", "document", "issue") and says(asks[opening].title):
        return fit(asks[opening].title)
    planned = next((ask.title for ask in asks[:_PLANNED] if ask.kind == "plan" and says(ask.title)), "")
    if planned and worth(fit(planned), known) >= _LEAST:
        return fit(planned)
    told = material.commits or any(_tells(one) for one in asks)
    told = told or (any(said) and not any(one.kind == "command" for one in asks))
    text = (_chosen(asks, opening, said, material, known) if told else "") or _left(asks, material, known)
    return _told_apart(_whole_sentence(text), asks[opening].places if asks else (), said, known)


def _whole_sentence(text: str) -> str:
    """A title that was cut in its second sentence without it."""
    end = text.find(". ", _SHORT) if text.endswith(ELLIPSIS) else -1
    return text[:end] if end > 0 and text[end - 1].islower() else text


def _told_apart(text: str, places: Sequence[str], said: Sequence[str], known: dict[str, float]) -> str:
    """A title that any request of its kind could have, with the place that was named or what the answers tell most of:
    "Review the PR: pull/7360".
    """
    room = ROOM - len(text) - 2
    if (
        not text
        or text.endswith(ELLIPSIS)
        or room < _SHORT // 2
        or set(keys(text)) - _ANY
        or any(char.isdigit() for char in text)
    ):
        return text
    place = next((name for one in places if len(name := _last_parts(one)) <= room), "")
    if place:
        return f"{text}: {place}"
    more = choose(weighed(phrases(said), known), text, room)[:1]
    return fit(": ".join([text, *more]))


def _last_parts(address: str) -> str:
    """The end of an address: pull/7360 or the name of the page."""
    parts = [one for one in re.split(r"[?#]", address)[0].rstrip("/.,").split("/")[3:] if one]
    return "/".join(parts[-2:]) if parts and parts[-1].isdigit() else parts[-1] if parts else ""


def of_prompt(text: str) -> str:
    """The title of what a prompt opens, as long as there is no more; one that says nothing is quoted."""
    return _of_prompt(text[:2_000])


@lru_cache(maxsize=2_000)
def _of_prompt(text: str) -> str:
    return made(Material([text])) or (f"Said “{fit(text, ROOM - 7)}”" if text.strip() else "")


def of_goal(sentence: str) -> str:
    """The title that a sentence about the goal gives, "The user wanted to ..." as well; "" where it says nothing."""
    does, rest = goal(_WANTED.sub("", without_markers(sentence).split(". ", 1)[0]))
    text = fit(f"{does} {rest}")
    return text if says(text) else ""


def _tells(ask: Ask) -> bool:
    if ask.kind in ("terse", "empty"):
        return bool(ask.error)
    if ask.kind == "command":
        return sum(len(one.split()) for one in ask.sentences) >= TERSE
    return ask.kind in ("plan", "document", "issue") or any(says(one) for one in ask.sentences)


def _chosen(asks: list[Ask], opening: int, said: list[str], material: Material, known: dict[str, float]) -> str:
    does = verb(asks, opening, said)
    texts = [text for ask in asks[opening:] for text in (ask.title, *ask.sentences)]
    found = weighed(phrases(texts + said), known)
    told = choose(found, does, ROOM - len(does) - bool(does))
    if does and told:
        told = list(dict.fromkeys([_without_verb(told[0]), *told[1:]]))
    best = f"{does} {together(told, ROOM - len(does) - bool(does))}".strip() if told else ""
    least = worth(best, known)
    commits = [fit(_REFERENCE.sub("", _TYPE.sub("", one))) for one in material.commits]
    commit = max((one for one in commits if says(one)), key=lambda one: worth(one, known), default="")
    if commit and worth(commit, known) >= (_COMMIT if len(commits) > 1 else _ONLY_COMMIT) * least:
        return commit
    if whole := _whole(asks[opening] if asks else None, known, _WHOLE * least):
        return whole if whole.endswith("?") else _tagged(whole, found)
    clause = max(_clauses(asks[opening : opening + 4], known), default=(0.0, ""))[1]
    if clause and worth(clause, known) >= _CLAUSE * least:
        return _tagged(clause, found)
    if not does and (len(told) > 1 or _DENSE.search(best)) and (first := _first(asks[opening : opening + 3])):
        return first
    return fit(best) if len(keys(best)) >= _TELLING and " " in best else ""


def _without_verb(phrase: str) -> str:
    """A phrase without the verb that it begins with, since the title has one: "skips the cache", "create commits"."""
    first, _, rest = phrase.partition(" ")
    if not rest or first.lower() not in _VERB_FORMS:
        return phrase
    words = rest.split(" ")
    while len(words) > 1 and words[0].lower() in _BEFORE_NOUNS:
        words.pop(0)
    return " ".join(words)


_BEFORE_NOUNS = listed("at directly for from in into of on to with")
_VERB_FORMS = listed(
    """add allow allows appear appears blocks break breaks causes contain contains crash crashes create creates do does
    explain fail fails find forget forgets gets give gives goes happen happens hang hangs have ignore ignores introduces
    keep keeps live lives lose loses make makes need needs overwrites point points put read remove replace return
    returns run says see seems show skip skips take takes tell tells throw throws use wants write writes"""
)


def _tagged(text: str, found: Sequence[Weighed]) -> str:
    """A title with the phrases, as tags, that tell most of the rest in the room that is left."""
    more = choose(found, text, ROOM - len(text) - 2) if not text.endswith(ELLIPSIS) else []
    return fit(together([text, *more], ROOM))


def _first(asks: Sequence[Ask]) -> str:
    """The first sentence that tells something, cut to fit: phrases in a row without a verb read as a riddle."""
    for ask in asks:  # where the verb ends the sentence, what is asked for is the sentence
        own = [one for one in ask.sentences[:3] if _DENSE.search(one) and says(one)]
        if own:
            return fit(next((one for one in own if REQUEST.search(one) and len(one) >= _SHORT), own[0]))
    told = [goal(one) for ask in asks for one in ask.sentences[:3]]
    asked = [one for one in told if one[0] and len(keys(one[1])) >= _TELLING]
    sentences = [" ".join(one).strip() for one in (*asked, *told)]
    found = [one for one in sentences if says(one) and len(keys(one)) >= _TELLING]
    return next((fit(one) for one in found if not _TALKS.match(one)), fit(found[0]) if found else "")


def _whole(ask: Ask | None, known: dict[str, float], least: float) -> str:
    """The first sentence of a request as it stands, without politeness, where it fits and tells enough."""
    if ask is None or ask.kind == "command" or not ask.sentences:
        return ""
    first = ask.sentences[0].strip()
    does, rest = goal(first)
    if not does and first.endswith("?") and _SHORT <= len(first) < ROOM and len(ask.sentences) == 1:
        return f"{fit(first.rstrip('?'))}?"
    text = f"{does} {rest}".strip(" .!?")
    if not does and (_TALKS.match(text) or HAVE.search(first[:_SAID])):
        return ""
    if not _SHORT <= len(text) <= _CUT or len(keys(text)) < _TELLING + (not does):
        return ""
    alone = does and len(ask.sentences) == 1 and len(keys(text)) > _TELLING and len(text) <= ROOM
    if not alone and worth(fit(text), known) < least:
        return ""
    return fit(text) + ("?" if not does and first.endswith("?") and len(text) < ROOM else "")


def _clauses(asks: Sequence[Ask], known: dict[str, float]) -> list[tuple[float, str]]:
    """(what it tells, the clause) of each that asks for something."""
    out = []
    for number, ask in enumerate(asks):
        for sentence in ask.sentences[:10]:
            for part in parts(sentence):
                does, rest = goal(part)
                text = headline(does, rest, known, ROOM) if does else ""
                if len(text) >= _SHORT:
                    out.append((worth(text, known) - 0.1 * number, text))
    return out


def _left(asks: list[Ask], material: Material, known: dict[str, float]) -> str:
    """What is left where the prompts name nothing: their first words, a command with its words, an error, a file."""
    for ask in asks:
        lead = f"Run {ask.title} " if ask.kind == "command" else ""
        told = [" ".join(goal(part)).strip() for one in ask.sentences[:6] for part in parts(one) if says(part)]
        if told:
            return fit(lead + max(told, key=lambda one: worth(one, known)))
    error = next((ask.error for ask in asks if ask.error), "")
    if error:
        return fit(f"Fix {error}")
    command = next((ask.title for ask in asks if ask.kind == "command"), "")
    if command:
        return fit(f"Run {command}")
    answer = next((line for text in material.said for line in text.split("\n") if says(line)), "")
    if answer:
        return fit(answer)
    files = list(dict.fromkeys(file(path) for path in material.files))[:3]
    return fit(f"Work on {', '.join(files)}") if files else ""
