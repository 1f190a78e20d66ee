"""Finds a person's working rules in prompts (never, always, use X not Y), by their form or repetition. Pure.

A wish is general when its form says so (never, always, from now on, stop doing, use X not Y, prefer, do not do a kind
of thing) and nothing ties it to the moment (this, it, yet, for now, just). Any other is kept as well: said again in
another session, it was no matter of the moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nmem.learn.find import SAID, Finding
from nmem.learn.kinds import Kind
from nmem.learn.learning import CORRECTION, OPEN
from nmem.learn.patterns import Met, Pattern, Project
from nmem.learn.rows import LONGEST, Said
from nmem.retrieval import naming

_TASK = 400
"""Characters of a prompt from which on a plain `do not` bounds the task that it describes."""
AGAIN = 2
"""Sessions in which a wish that is tied to the moment must have been said to be none."""
SAME = 0.6
"""Part of their words that two wordings of a rule share."""
_QUOTE = 240
_LEAST, _MOST = 3, 28
"""Words of a wish."""
_VERBS = """
commit push add write create use run put edit change modify touch remove delete merge rebase squash amend
comment mock stage test format wrap rename import install bump mention include document explain summarize
hardcode skip ask start build generate refactor make open call leave log print reformat rewrite duplicate
introduce guess assume claim work apply suppress disable ignore catch cast return store check read deploy
release publish close sign tag force reset revert overwrite pin upgrade invent repeat apologize translate
answer reply respond speak
""".split()  # noqa: SIM905 - read as a list
_WORK = "|".join(_VERBS)


_DOUBLED = frozenset(("put", "run", "commit", "stop", "tag", "pin", "log", "reset", "skip", "wrap"))


def _doing(verb: str) -> str:
    return f"{verb}{verb[-1]}ing" if verb in _DOUBLED else f"{verb.removesuffix('e')}ing"


_DOING = {_doing(verb): verb for verb in _VERBS}
_LEAD = (
    r"(?:(?:yes|yep|yeah|no|nope|ok(?:ay)?|and|but|so|also|please|well|hm+|hey|again|next time|remember(?: to| that)?|"
    r"btw|note(?: that)?|as i said|i (?:said|told you)(?: to)?|important|reminder|in (?:the )?future|"
    r"in (?:general|this (?:repo|project|repository|codebase))|here|going forward)\b[\s,:;.!–—-]*)*"
)
_NOT = r"(?:do not|don[’']?t|dont)"
_CHOSEN = r"\S+(?: \S+)?(?:,? (?:and )?not|,? instead of|,? rather than)"
_GOING = "|".join(_DOING)
_FORMS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (name, re.compile(f"^{_LEAD}{pattern}$", re.IGNORECASE | re.DOTALL), becomes)
    for name, pattern, becomes in (
        ("strong", r"from (?:now|here) on[\s,:]*(?:you (?:must|should|can) )?(?P<rest>.+)", "{rest}"),
        ("strong", rf"(?:you (?:must|should) |{_NOT} |we )?(?:never|ever) (?:ever )?(?P<rest>(?:{_WORK})\b.+)",
         "Never {rest}"),
        ("strong", rf"(?:you (?:must|should) |we |i )?always (?P<rest>(?:{_WORK}|prefer|keep)\b.+)", "Always {rest}"),
        ("stop", rf"stop (?P<doing>{_GOING})\b(?P<rest>.*)", "Do not {doing}{rest}"),
        ("choice", rf"(?:let[’']?s |we |you should |i (?:want|would like) (?:you )?to )?(?P<rest>use {_CHOSEN} \S.*)",
         "{rest}"),
        ("choice", r"(?:i |we )?(?P<rest>prefer \S.+ (?:over|to|instead of|rather than) \S.+)", "{rest}"),
        ("wish", rf"(?:i|we) (?:really |explicitly |definitely )?{_NOT} want (?:you )?to (?P<rest>(?:{_WORK})\b.+)",
         "Do not {rest}"),
        ("wish", rf"(?:it is|it[’']s) not allowed to (?P<rest>(?:{_WORK})\b.+)", "Do not {rest}"),
        ("wish", rf"avoid (?P<doing>{_GOING})\b(?P<rest>.+)", "Do not {doing}{rest}"),
        ("ours", rf"we {_NOT} (?P<rest>(?:{_WORK})\b.+)", "Do not {rest}"),
        ("plain", rf"(?:you should )?{_NOT} (?P<rest>(?:{_WORK})\b.+)", "Do not {rest}"),
    )
)  # fmt: skip
"""Name of a form, how it is said, and the rule that it becomes."""
_MOMENT = re.compile(
    r"\b(?:yet|now|just|today|tomorrow|at the moment|for the moment|this time|for this|first|until|till|any ?more|"
    r"again|too|in this (?:case|pr|branch|commit|session|task|step|change)|so far|still|already|back|instead$)\b",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"^\w+ (?:(?:up|out|in|on|off|with|to|at|for|from) )?(?:it|this|that|these|those|them|him|her|us|me|you|anything|"
    r"everything|something|one|both|the|my|your|its|their|so|here|there|what|which|like that|sure)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"^\w+ (?:it|this|that|these|those|them|anything|everything|here|so)\b", re.IGNORECASE)
_GENERAL = re.compile(
    r"\b(?:ever|always|never|every time|each time|unless|without|whenever|any|in general|by default)\b", re.IGNORECASE
)
_BREAKS = re.compile(
    rf"(?<=[.!?;])\s+|\n+|(?:,|\bbut|\band|–|—)\s+(?=(?:{_NOT}|never|stop|avoid|prefer)\b)", re.IGNORECASE
)
_QUOTED = re.compile(r"```.*?(?:```|\Z)|^\s*[>|$#].*$", re.DOTALL | re.MULTILINE)
_CUT = re.compile(r"\b(?:the|a|an|to|of|in|on|for|with|from|and|or|as|that|by|at|is|are)$", re.IGNORECASE)
"""How a line ends that goes on in the next one."""
_AROUND = " \t-*•·\"'“”.,;:!"
_GENTLE = re.compile(r"[\s,]*\b(?:please|thanks|thank you|ok(?:ay)?)\b[\s.!]*$", re.IGNORECASE)


@dataclass(frozen=True)
class Wish:
    """One wish: the rule that it amounts to, in the person's words, and whether its form alone makes one of it."""

    prompt_id: int
    at: int
    rule: str
    quote: str
    general: bool

    @property
    def key(self) -> str:
        """Its content words, in a fixed order."""
        return " ".join(sorted(set(naming.tokens(self.rule))))[:300]


def wishes(prompts: Sequence[Said]) -> list[Wish]:
    """The wishes of prompts, in their order, each once."""
    found: dict[str, Wish] = {}
    for said in prompts:
        for one in _of(said):
            before = found.get(one.key)
            points = _POINTS.match(one.rule.removeprefix("Do not "))
            if one.key and (one.general or not points) and (before is None or (one.general and not before.general)):
                found[one.key] = one
    return list(found.values())


def _of(said: Said) -> Iterator[Wish]:
    if len(said.text) > LONGEST or said.text.lstrip().startswith(("/", "<", "#", "{", "[")):
        return
    for line in _BREAKS.split(_QUOTED.sub("\n", said.text)):
        sentence = " ".join((line or "").split()).strip(_AROUND)
        if not sentence or "?" in (line or "") or len(sentence.split()) > _MOST or len(sentence.split()) < _LEAST:
            continue
        if _CUT.search(sentence):
            continue
        for form, pattern, becomes in _FORMS:
            if found := pattern.match(sentence):
                parts = {name: value or "" for name, value in found.groupdict().items()}
                parts["doing"] = _DOING.get(parts.get("doing", "").lower(), parts.get("doing", ""))
                rule = _GENTLE.sub("", becomes.format(**parts)).strip(_AROUND)
                rule = rule[:1].upper() + rule[1:]
                yield Wish(said.prompt_id, said.at, rule, sentence, _general(form, rule, parts["rest"], len(said.text)))
                break


def _general(form: str, rule: str, rest: str, size: int) -> bool:
    """Whether a wish is about more than the task at hand, by its form."""
    if form == "strong":
        return not re.search(r"\b(?:be|been|being) \w+ed\b", rest) or len(rest.split()) > 1
    bare = rule.removeprefix("Do not ")
    if _MOMENT.search(bare):
        return False
    if form == "choice":
        return not re.search(r"\b(?:this|that|these|those|it|the)\b", rest, re.IGNORECASE)
    if form == "plain" and size > _TASK:
        return False
    points = _PRONOUN if form in ("ours", "stop") else _POINTS
    return bool(_GENERAL.search(bare)) or not points.match(bare)


def findings(prompts: Sequence[Said]) -> list[Finding]:
    """What a session says of it, a finding a wish; `count` is 0 where only repetition makes a rule of it."""
    out = []
    for one in wishes(prompts):
        made = Finding(SAID, one.key, one.rule)
        made.count = int(one.general)
        made.failures = [{"id": None, "at": one.at, "p": one.prompt_id, "x": one.quote[:_QUOTE]}]
        out.append(made)
    return out


def patterns(project: Project) -> list[Pattern]:
    """The rules that a person gave: general ones, and those given in two sessions; near-equal wordings are one."""
    groups: list[list[tuple[str, Finding]]] = []
    for session, one in project.findings:
        if one.kind == SAID:
            near = next((group for group in groups if _alike(group[0][1], one)), None)
            if near is None:
                groups.append([(session, one)])
            else:
                near.append((session, one))
    return [made for group in groups if (made := _pattern(group))]


def _alike(one: Finding, other: Finding) -> bool:
    mine, theirs = set(one.key.split()), set(other.key.split())
    return one.title.startswith("Do not") == other.title.startswith("Do not") and len(mine & theirs) >= SAME * len(
        mine | theirs
    )


def _pattern(group: Sequence[tuple[str, Finding]]) -> Pattern | None:
    if len({session for session, _ in group}) < AGAIN and not any(one.count for _, one in group):
        return None
    met = [
        Met(session, int(str(each["at"])), None, int(str(each["p"])), str(each["x"]))
        for session, one in group for each in one.failures
    ]  # fmt: skip
    met.sort(key=lambda one: (one.at, one.prompt_id or 0))
    title = next((one.title for _, one in reversed(group) if one.count), group[-1][1].title)
    made = Pattern(CORRECTION, group[0][1].key, title, met, len(met))
    made.state = OPEN
    return made


KINDS = (Kind(CORRECTION, find=lambda _rows, said: findings(said), conclude=lambda project, _found: patterns(project)),)
