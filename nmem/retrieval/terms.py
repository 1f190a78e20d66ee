"""Extracts terms and file names from a text for ranking. On the hook's path."""

from __future__ import annotations

from capture.jsonio import BadJson, loads
from nmem.episodes.text import tokens

_EDGE = ".,;:!?()[]{}<>\"`*#-~'|"
_SPACED = {ord(char): " " for char in "`(),|<>[]\"'*"}
_EXTENSION = 10
MENTIONS = 60
"""Files a text may name: of a pasted listing, the first."""

CHAT: frozenset[str] = frozenset(
    """able absolutely ack actually afternoon agre agree ah ahead alone already alright although alway amaz another
answer anybody anyone anyth anyway appreciate around ask asked asking assist away awesome back bad basically
begin beginn begun believe bem best better bit bitte boa bom bonjour bring buddy bueno bye came carry
certainly cheer child ciao come coming continu continua continuar continue continuer cool correct course danke
day dear definitely describe dia different early else even ever everyone everyth everywhere exactly excellent
explain far feel fine finish first folk forget forward friend gave give giving glad go goe going gone good
goodbye gracia grazie great greeting guess guten guy ha haha hallo happen happy hear heard hello help hey hi
hm hmm hola hold hope hour howdy however idea inde instead interest keep kid kind kindly knew know last late
later leave lgtm life little live lol long look lot love lovely man many mate maybe mean meant merci mind
minute moment month morgen morn much name need never next nice night nobody nope noth obrigada obrigado often
oh oi ola once otherwise people perfect perhap person pls possible prego pretty previou probably proce proceed
put question quite rather ready really recommend remember repeat retry sad said salut saw say saying second
see seeing seen seguir several short sigue simply somebody someone someth somewhere soon sorry sort speak
start still stop stuff suggest sup sure take taking talk tell thank thing think though thought thx time today
together told tomorrow tonight took tried try trying tudo twice understand wait want watch way week weekend
weiter weitermachen welcome well went wish woman wonder wonderful worse worst wow yeah year yep yesterday yet
yo yup""".split()  # noqa: SIM905 - read as a list
)
"""Words that say nothing of a subject whatever the project: how people greet, agree and go on.

As `nmem.episodes.text.tokens` gives them, which leaves out articles, pronouns and their like. Possible subjects (a
letter, a recipe, French) are missing on purpose: of such words the project itself must have spoken.
"""


def terms(text: str) -> dict[str, int]:
    """Content tokens of a text and how often each stands."""
    counts: dict[str, int] = {}
    for token in tokens(text):
        counts[token] = counts.get(token, 0) + 1
    return counts


def base(path: str) -> str:
    """The base name of a path, in lower case."""
    return path.rpartition("/")[2].lower()


def name_terms(path: str) -> list[str]:
    """The distinct words of a file's base name without its extensions."""
    name = path.rpartition("/")[2]
    return list(dict.fromkeys(tokens(name.split(".", 1)[0] if name.find(".") > 0 else name)))


def mentions(text: str) -> list[str]:
    """Paths and file names in a text, lower case with forward slashes: src/a.go, `a.go:12`, @a.go."""
    found: dict[str, None] = {}
    for raw in text.replace("\\", "/").lower().translate(_SPACED).split():
        if "." in raw:
            word = raw.strip(_EDGE).lstrip("@").split(":", 1)[0].split("#", 1)[0]
            name = word.rpartition("/")[2]
            if "." in name and len(name) > 2:
                found[word] = None
                if len(found) >= MENTIONS:
                    break
    return list(found)


def branch_terms(branch: str | None) -> list[str]:
    """The distinct words of a branch's name."""
    return list(dict.fromkeys(tokens(branch or "")))


def file_like(word: str) -> bool:
    """Whether a mention ends like a file: with a short extension, not with a version or a domain's rest."""
    ending = word.rpartition("/")[2].rpartition(".")[2]
    return 0 < len(ending) <= _EXTENSION and ending.isalnum() and ending[0].isalpha()


_SPANS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))


def ago(gap: int) -> str:
    """How long ago, in the largest whole unit."""
    for size, unit in _SPANS:
        if gap >= size:
            number = gap // size
            return f"{number} {unit}{'s' if number > 1 else ''} ago"
    return "just now"


def texts(stored: str | None) -> list[str]:
    """The lines of a stored JSON list; none when it is no list."""
    if not stored or stored == "[]":
        return []
    try:
        found = loads(stored)
    except BadJson:
        return []
    return [line for line in found if isinstance(line, str) and line.strip()] if isinstance(found, list) else []
