"""Collects an episode's lessons: decisions, the person's corrections, failures with their cure, confirmed causes.

A cause is confirmed where the work bears out what the agent found. Other sentences of the agent are no lessons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest

from nmem.conversation import rules
from nmem.conversation.cues import Cue
from nmem.conversation.talk import Turn as Said
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.checks import Struggle, told
from nmem.episodes.narrate.prompts import read
from nmem.episodes.narrate.prose import Sentence, alike, clip, codes, plain, sentences, size, words
from nmem.episodes.narrate.records import OK, Action, Episode
from nmem.episodes.narrate.turns import Superseded, Turn, distinct

_DECIDED, _FINDINGS, _MENDED = 4, 2, 2
_SURE = 0.5
"""Confidence from which what a person says in passing is told as decided."""
_WORDS, _QUESTION, _ROOM = 200, 110, 260
_SHORTEST, _LONGEST = 6, 45
_BARE = 8
"""Words below which a decision is told with what it was about, or not at all."""
_TELLING = 4
"""Words with content that a cause has at least."""
_SAID = 0.5
"""The part of a cause's words from which on a prompt has said it."""
_SHARED = 2
"""Words that a cause without a name must share with what the person asked."""
_GENERIC = re.compile(r"^(?:error task failed|(?:command|task|build|tests?) failed|failed|error)\W*\d*$", re.IGNORECASE)
_DANGLES = re.compile(
    r"(?:this|that|these|those|it|he|she|they|so|which|and|but|or|then|also|actually|exactly|right|no|yes|yeah|wait|hmm"
    r"|there['’]?s also|there (?:is|are) also|now|i\b|i['’]|we\b|let|you|if|here['’]?s?)\b",
    re.IGNORECASE,
)
"""How a sentence begins that needs the one before it, or talks."""
_PASSING = Cue(
    r"\b(?:let me|we just|we already|i['’]ll|i (?:think|see|need|should|will|can)|maybe|perhaps|likely"
    r"|might|may be|probably|was filed|could be)\b"
)


def decided(episode: Episode) -> list[str]:
    """Questions that the person answered, plans that were accepted, and what was settled in passing; the newest."""
    out = [text for action in episode.actions if action.outcome == OK for text in _formal(action)]
    return distinct([*out, *_chosen(episode), *_in_passing(episode)])[-_DECIDED:]


def _formal(action: Action) -> Iterator[str]:
    if action.obs_type == "question":
        yield from _answers(action)
    elif action.obs_type == "plan":
        title = next((line.strip("# ") for line in action.content.split("\n") if line.startswith("#")), "")
        if title:
            yield f"Plan accepted by the user: {clip(title.removeprefix('Plan: '), 140)}"


def _answers(action: Action) -> Iterator[str]:
    asked = action.metadata.get("questions")
    for one in asked if isinstance(asked, list) else []:
        question, answer = (one.get("question"), one.get("answer")) if isinstance(one, dict) else (None, None)
        if isinstance(question, str) and isinstance(answer, str) and answer:
            yield f"The user decided: {clip(question, 140)} {clip(answer, 120)}"


def _chosen(episode: Episode) -> Iterator[str]:
    """Which of the agent's options the person took, with what that option is."""
    for prompt in episode.prompts:
        before = next((one.text for one in reversed(episode.closings()) if one.at <= prompt.at), episode.before)
        if (item := picked(prompt.text, before)) and not _AT_ONCE.search(item):
            yield f"The user decided: “{clip(plain(prompt.text), 60)}” ({item})"
            continue
        short = size(prompt.text) <= _BRIEF and not _ASKS.search(prompt.text)
        if named := option(prompt.text, before) if short else "":
            yield f"The user decided: “{clip(plain(prompt.text), 120)}” ({named})"


def option(reply: str, before: str) -> str:
    """ "option 2" with what it is in the agent's text before; "" for none."""
    found = _CHOICE.search(reply)
    named = found and re.search(_OPTION.format(found[1], found[2]), before, re.IGNORECASE)
    what = plain(named[1]).strip(" :.-–—|") if named else ""
    return f"{found[1]} {found[2]}: {clip(what, 110)}" if found and len(words(what)) >= _OPTION_WORDS else ""


def picked(reply: str, before: str) -> str:
    """What a bare "2" or "b" stands for: that item of the agent's list of two or more, where it asked; else ""."""
    found = _BARE_CHOICE.match(reply.strip())
    items = {one[1].lower(): one[2] for one in _LISTED.finditer(before[-4_000:])}
    if not found or len(items) < _OPTION_WORDS or not cues.QUESTION.search(before.strip()[-300:]):
        return ""
    return clip(plain(items.get(found[1].lower(), "")).strip(" :.-–—|"), 160)


_BARE_CHOICE = re.compile(
    r"(?:option |go with |let'?s do )?([1-9]|[a-e])(?: is (?:better|good|fine)\b.*|[\s.,!)]*(?:please)?"
    r"|번 ?(?:방식|방법|안|옵션)?(?:으로|로)?\s*(?:해|진행|하|가|부탁)\S{0,20}[\s.!]{0,8})$",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^[ \t]*(?:[-*] +)?\(?\**([1-9]|[A-E])[.):]\**[ \t]+(\S[^\n]{4,400})", re.MULTILINE)
_CHOICE = re.compile(r"\b(option|variant|approach|plan|방법)\s*(\d|[a-e])\b", re.IGNORECASE)
_OPTION = r"\b{0}\s*{1}\b[:.)*\s–—-]*([^\n]{{8,160}})"
_ASKS = re.compile(r"\?|\b(?:can|could|would|will) (?:you|we)\b|you can\b", re.IGNORECASE)
_AT_ONCE = re.compile(
    r"^(?:commit|push|run|merge|rename|fix|skip|delete|retry)\b|\bquick\b|\(\d+ ?(?:s|sec|seconds?|min|minutes?)\)",
    re.IGNORECASE,
)
"""An option that is carried out at once and settles nothing for later."""
_BRIEF, _OPTION_WORDS = 14, 2


def _in_passing(episode: Episode) -> Iterator[str]:
    """What the person settled in conversation, in the person's words."""
    talk = sorted(
        [(one.at, True, one.text) for one in episode.prompts]
        + [(one.at, False, one.text) for one in episode.closings()],
        key=lambda one: one[0],
    )
    turns = [Said(number, person, text) for number, (_, person, text) in enumerate(talk)]
    opening = next((turn.number for turn, (_, person, _) in zip(turns, talk, strict=True) if person), -1)
    for one in rules.find(turns):
        whole = turns[one.words.number].text
        if one.words.number == opening and not _ALWAYS.search(whole):
            continue  # the goal, told as such
        text = _PASTED.sub("", " ".join(read(one.words.of(whole)).sentences[:2]))
        chosen = one.kind == rules.ANSWER and one.restated is not None and one.restated.number < one.words.number
        span = one.restated if chosen else one.question or one.restated
        if _CHOICE.search(whole) and size(whole) <= _BRIEF:
            continue  # told with the option, or not what was decided
        if _UNTOLD.match(text):
            continue  # an option by its number, which nothing tells
        if one.kind in _REPLIES and cues.COMPLAINT.search(text):
            continue  # how it stands, not what shall be
        if (_ASKS.match(text) or text.endswith("?")) and not _ALWAYS.search(text):
            continue  # a request, or a question
        if one.confidence < _SURE or size(text) < 3 or read(whole).error or (size(text) < _BARE and not span):
            continue
        asked = " ".join(plain(span.of(turns[span.number].text)).split()) if span else ""
        points = one.kind == rules.CORRECTION and bool(_POINTS.search(text))
        needed = points or one.kind in _REPLIES or size(text) < _BARE
        asked = _asked_before(turns, one.words.number) if points else asked
        about = f" (about: “{clip(asked, _QUESTION)}”)" if asked and needed else ""
        yield f"{_lead(one.kind, text)}: “{clip(text, _WORDS)}”{about}"


def _asked_before(turns: list[Said], number: int) -> str:
    """What the person said last before a turn."""
    before = next((one.text for one in reversed(turns[:number]) if one.person), "")
    said = " ".join(read(before).sentences[:1])
    return said if len(words(said)) > 1 else ""


_POINTS = re.compile(r"\b(?:this|that|it|them|those|these)\b|이거|그거|これ|それ", re.IGNORECASE)
"""Words that mean something said before."""
_ALWAYS = Cue(
    r"\b(?:always|never|from now on|whenever|every time|by default|sempre|nunca|immer|niemals)\b"
    r"|항상|절대|いつも|常に|必ず"
)
"""What makes a rule of a request."""
_PASTED = re.compile(r"\s*:?\s+(?:create mode|fatal:|error:|go: |===).*$", re.IGNORECASE)
_UNTOLD = re.compile(
    r"\W*(?:option |variant |go with )?(?:[1-9]|[a-e])(?:\s+(?:is|and|but|with|please)\b|[,.;:)]\s)|\W*[1-9]번",
    re.IGNORECASE,
)
_REPLIES = (rules.ANSWER, rules.CONFIRMATION)


def _lead(kind: str, text: str) -> str:
    if kind == rules.RULE:
        return "Rule of the user"
    corrects = kind == rules.CORRECTION and cues.CORRECTION.search(text)
    return "The user corrected" if corrects else "The user decided"


def mended(episode: Episode, ran: list[Struggle]) -> list[str]:
    """What failed, why, and after which edits it passed; those that took most tries.

    What failed only after the episode's own edits, once or in a word that a compiler asks for, is its own slip on the
    way, and nothing to know.
    """
    first = min((one.at for one in episode.actions if one.obs_type in ("file_edit", "file_write")), default=0)

    def known(one: Struggle) -> bool:
        slip = one.failures == 1 or one.kind in ("build", "git_commit", "git_push")
        return one.first_at < first or not slip

    hard = [
        one for one in ran
        if one.failures and one.passed and one.fixed_by and not (one.probe or one.misused or one.made) and one.reasons
        and one.reasons[-1] and not _GENERIC.match(one.reasons[-1]) and known(one)
        and one.kind in ("test", "build", "command") and not _SLIP.search(one.reasons[-1])
    ]  # fmt: skip
    hard.sort(key=lambda one: (-one.failures, one.first_at))
    return [told(one) for one in sorted(hard[:_MENDED], key=lambda one: one.first_at)]


def found_out(episode: Episode, named: list[str], found: list[Turn]) -> list[str]:
    """Of the causes that were named, those that the work bears out: the agent ended a request that it edited files for
    with it, and the person had not said it.
    """
    said = [words(one.text[:4_000]) for one in episode.prompts]
    closings = [" ".join(plain(turn.closing).split()).lower() for turn in found if turn.edited]
    out = []
    for text in named:
        bag = words(text)
        theirs = any(len(bag & other) >= _SAID * len(bag) for other in said)
        bare = _BARELY.match(text) and not (codes(text) or _PROPER.search(text))
        if not (theirs or bare) and any(text.rstrip("… ")[-40:].lower() in one for one in closings):
            out.append(text)
    return out


_PROPER = re.compile(r"(?<=[a-z,;] )[A-Z]\w+")
_BARELY = re.compile(r"(?:the )?(?:issue|problem)\b.{0,12}\b(?:is|was)\b", re.IGNORECASE)
"""How a cause begins that says nothing outside its episode where it names nothing."""
_SLIP = re.compile(
    r"not used|unused|undefined|undeclared|no new variables|expected ['\";{}()]|cannot use|mismatch|\bTS\d{4}\b"
    r"|syntax ?error|cannot find (?:name|module|symbol)|is not defined|duplicate|could not import"
    r"|\[(?:build|setup) failed\]|IndentationError|not checked|has \d+ occurrences|imported and not",
    re.IGNORECASE,
)


def causes(episode: Episode, found: list[Turn], gone: Superseded) -> list[str]:
    """Causes that the agent names, of what was asked: the newest that no correction has overtaken."""
    seen = _seen(episode)
    asked = {word for one in episode.prompts for word in words(one.text[:2_000])}
    out: list[tuple[str, set[str]]] = []
    for turn in reversed(found):
        for one, more in _told(turn):
            bag = words(one.text)
            if (
                not _is_cause(one)
                or len(bag) < _TELLING
                or gone(turn.number, one.text)
                or any(alike(bag, other) >= 0.5 for _, other in out)
            ):
                continue
            named = {name for name in codes(one.raw) if len(name) > 3}
            mends = turn.edited and _NAMED.match(one.text)
            if mends or any(name in seen for name in named) or (not named and len(bag & asked) >= _SHARED):
                text = _OPENING.sub("", one.text)
                whole = f"{text} {more}" if more and _WHERE.search(text) and len(text) + len(more) < _ROOM else text
                out.append((clip(whole, _ROOM), bag))
            if len(out) == _FINDINGS:
                return [text for text, _ in reversed(out)]
    return [text for text, _ in reversed(out)]


def labelled(found: list[Turn]) -> str:
    """The problem as the agent put it below that very word, in the newest answer that has it once; "" for none."""
    for turn in reversed(found):
        low = turn.closing.lower()
        said = sentences(turn.closing)[:40] if any(word in low for word in _WORDS_FOR_IT) and turn.edited else []
        under = [one for one in said if _PROBLEM_LABEL.fullmatch(one.label.rsplit(" / ", 1)[-1])]
        if not under or len({one.label for one in under}) > 1 or size(under[0].text) < _SHORTEST:
            continue
        text, more = under[0].text, under[1].text if len(under) > 1 else ""
        whole = f"{text} {more}" if more and more[-1] not in ":：…" and len(text) + len(more) < _ROOM else text
        if whole[-1] not in ":：…":
            return clip(whole, _ROOM)
    return ""


_WORDS_FOR_IT = ("problem", "cause", "went wrong", "causa", "ursache", "문제", "원인", "問題", "原因")
_PROBLEM_LABEL = re.compile(
    rf"(?:the |what )?(?:actual |real |underlying |root )?(?:{'|'.join(_WORDS_FOR_IT)})a?", re.IGNORECASE
)


def _told(turn: Turn) -> Iterator[tuple[Sentence, str]]:
    """What was said of a request in the end, and the causes that were named on the way to an edit; each with what
    goes on with it.
    """
    said = sentences(turn.closing)[:40]
    for one, then in zip_longest(said, said[1:]):
        yield (
            one,
            then.text if then and not then.item and then.label == one.label and then.text[-1] not in ":：" else "",
        )
    for text in reversed(turn.thoughts if turn.edited else []):
        yield from ((one, "") for one in sentences(text)[:20] if _NAMED.match(one.text))


_WHERE = re.compile(r"\b(?:is|was|were|lies|lay) (?:in|at|with|on)\b[^,;]*$", re.IGNORECASE)
"""A cause of which only the place is said."""


_NAMED = re.compile(
    r"(?:the )?(?:real |actual |root |underlying |main )?(?:problem|issue|cause|bug|reason)\b.{0,40}\b(?:is|was)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^(?:however,? |(?:found (?:it|the (?:bug|issue|problem|cause))|fixed|done|confirmed)[.!:]\s+)", re.IGNORECASE
)


def _is_cause(one: Sentence) -> bool:
    """A whole statement of why something is as it is."""
    text = _OPENING.sub("", one.text)
    if not _SHORTEST <= size(text) <= _LONGEST or text.endswith((":", "：")) or cues.QUESTION.search(text):
        return False
    if (
        _LEFT.search(text)
        or _DANGLES.match(text)
        or _PASSING.search(text)
        or cues.CHATTER.match(text)
        or cues.FLEETING.search(text)
    ):
        return False
    if one.label and cues.LEFT_LABEL.search(one.label):
        return False
    under = bool(one.label) and bool(_CAUSE_LABEL.search(one.label)) and not one.item
    names = cues.PROBLEM.search(text) or (under and cues.CAUSE.search(text))
    return bool(names) and (_NAMED.match(text) is not None or not _REMEDY.search(text))


_REMEDY = re.compile(
    r"\b(?:is|are|has|have) now\b|\bnow (?:[a-z]+s|[a-z]+ed|use|have)\b|\b(?:has|have) been \w+ed\b"
    r"|^(?:(?:i|we)(?:'ve|’ve| have)? )?(?:add|fix|wrapp|replac|chang|remov|updat|mov|switch)ed\b|\bfix\W",
    re.IGNORECASE,
)
"""A sentence with one of these phrases tells how something was repaired, not why it failed."""
_LEFT = re.compile(r"\bas expected\b|^(?:remaining|blockers?|gates?)\b", re.IGNORECASE)
"""No cause: what was meant to fail, and what is left."""
_CAUSE_LABEL = re.compile(r"\broot cause\b|\bcause\b|원인|原因", re.IGNORECASE)


def _seen(episode: Episode) -> str:
    """What the work touched: paths, commands, edits and prompts, in lower case."""
    rows = [f"{one.file_path} {one.content[:1_500]} {one.response[:500]}" for one in episode.actions[-300:]]
    return "\n".join([*rows, *(one.text[:3_000] for one in episode.prompts)]).lower()
