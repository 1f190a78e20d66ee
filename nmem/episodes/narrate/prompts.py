"""Strips logs, addresses, images, wrappers and code pasted into a user's prompt, and classifies the prompt."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from nmem.conversation.cues import lazy
from nmem.episodes.narrate import cues
from nmem.episodes.narrate.prose import clip, plain, size, split

_TAG = lazy(
    r"<(system-reminder|local-command-stdout|local-command-stderr|command-message|ide_\w+|bash-\w+"
    r"|task-notification)\b.*?</\1>",
    re.DOTALL,
)
_COMMAND = lazy(r"<command-name>\s*(/?[\w:.-]+)\s*</command-name>")
_ARGS = lazy(r"<command-args>(.*?)</command-args>", re.DOTALL)
_IMAGE = lazy(
    r"\[(?:Image|Pasted text|Screenshot)[^\]\n]{0,80}\]|!\[[^\]\n]{0,200}\]\([^)\n]{0,400}\)"
    r"|\[Request interrupted[^\]\n]{0,60}\]",
    re.IGNORECASE,
)
_ANY_TAG = lazy(r"<(/?)([a-zA-Z][\w-]*)((?: [^<>\n]{0,200})?)>")
_URL = lazy(r"https?://(?:\[REDACTED:[^\]\s]*\]|[^\s\"'<>)\]])+")
_FENCE = lazy(r"(?:```|~~~).*?(?:```|~~~|\Z)", re.DOTALL)
_TITLE = lazy(r"^[ \t]{0,3}#{1,3}[ \t]+(.+)$", re.MULTILINE)
_PLAN_WORD = lazy(r"^(?:(?:implementation|migration)?\s*plan|spec|task|rfc|feature|prd)\s*[:：—–-]\s*", re.IGNORECASE)
_GOAL = lazy(
    r"^[ \t]*#{1,4}[ \t]+(?:\d+\.\s*)?(?:goal|objective|summary|overview|context|problem|what|목표|目的"
    r"|objetivo)\b.*\n+",
    re.IGNORECASE | re.MULTILINE,
)
_AT_FILE = lazy(r"\[@?([^\]\n]+)\]\(file:///[^)\n]+\)")
_SLASH = lazy(r"^/([a-zA-Z][\w:.-]*)(?:\s+(.*))?$", re.DOTALL)
_PLAN_LEAD = lazy(
    r"implement (?:the )?(?:following|this) plan|following plan|execute (?:the |this )?plan", re.IGNORECASE
)
_PLANS = lazy(
    r"\A.*\b(?:plan|spec|task|rfc|feature|prd|add|implement\w*|fix|refactor|migrat\w+|build|create)\b"
    r"|^[ \t]*#{1,4}[ \t]+(?:\d+\.[ \t]*)?(?:(?:step|phase|task) \d|(?:the |proposed |implementation |overall )*"
    r"(?:plan|goals?|objectives?|context|problem|implementation|changes|steps|tasks|approach|verification|todos?"
    r"|files to \w+)\W*$)",
    re.IGNORECASE | re.MULTILINE,
)
"""What tells a plan from any other document with headings."""
_COUNTER = lazy(r"^[\W\d]+(?=[A-Za-z])")
TERSE = 4
_READ = 12_000


class Ask(NamedTuple):
    """One user prompt as it is meant. `kind`: plan document issue command terse text empty."""

    kind: str
    sentences: tuple[str, ...] = ()
    title: str = ""
    goal: str = ""
    places: tuple[str, ...] = ()
    """Addresses that were pasted."""
    error: str = ""
    """The first line of a pasted error."""


@lru_cache(maxsize=256)
def read(text: str) -> Ask:
    """Clean one prompt; any text is accepted. The story and its title ask for the same ones."""
    text = _unwrap(text[:_READ])
    if found := _SLASH.match(text):
        rest = (found[2] or "").strip()
        return Ask("command", tuple(_sentences(rest))[:2], "/" + found[1])
    places = tuple(_URL.findall(text))[:3]
    if plan := _plan(text):
        return Ask("plan", title=plan, goal=_goal(text), places=places)
    if document := _document(text):
        return Ask("document", title=document, goal=_below(text), places=places)
    found_sentences = tuple(_sentences(text))
    error = "" if _models(found_sentences) else pasted_error(text) or _led_to(text, found_sentences) or _got(text)
    if not found_sentences:
        return Ask("empty", places=places, error=error)
    if issue := _issue(text):
        return Ask("issue", tuple(_sentences(text[: issue.start()]))[:1], clip(_BRACKET.sub("", plain(issue[2])), 140),
                   places=places, error=error)  # fmt: skip
    total = sum(size(one) for one in found_sentences)
    kind = (
        "terse"
        if (total < TERSE and not (places and cues.BROKEN.search(found_sentences[0])))
        or (total < 12 and cues.APPROVAL.match(found_sentences[0]) and not _asks(text))
        else "text"
    )
    return Ask(kind, found_sentences, places=places, error=error)


def _below(text: str) -> str:
    """What a person asked in a line of its own below a document; "" for none."""
    *above, last = text.rstrip().split("\n")
    alone = bool(above) and not above[-1].strip() and last[:1].isalnum() and size(last) <= _ASIDE
    return clip(plain(last), 160) if alone and _requests(last) and not last.endswith((":", "：", ",")) else ""


_ASIDE = 30
"""Words of a request below a document, at most."""


def _models(said: tuple[str, ...]) -> bool:
    """Whether a feature is asked for and what is pasted shows how it shall look: an error in it is nobody's."""
    own = " ".join(said[:2])[:400]
    if not _SAMPLE.search(own) or cues.BROKEN.search(own):
        return False
    return _requests(own)


_SAMPLE = lazy(
    r"\b(?:(?:this|that|these|the|following|an?) (?:\w+ )?(?:examples?|samples?|mock-?up|template)\b"
    r"|(?:similar to|look(?:s|ing)? like|in the style of|the way)\b)",
    re.IGNORECASE,
)


def _asks(text: str) -> bool:
    """Whether something is asked for after an approving word."""
    rest = cues.APPROVAL.sub("", text, count=1)
    return size(rest) >= TERSE and _requests(rest.strip(" ,.!"))


def _requests(text: str) -> bool:
    return bool(cues.REQUEST.search(text) or cues.IMPERATIVE.match(text))


def _unwrap(text: str) -> str:
    named = _COMMAND.search(text)
    if named:
        args = _ARGS.search(text)
        name = named[1] if named[1].startswith("/") else "/" + named[1]
        return f"{name} {args[1].strip() if args else ''}".strip()
    text = _IMAGE.sub(" ", _TAG.sub(" ", text))
    if "<" in text:
        closed = {found[2] for found in _ANY_TAG.finditer(text) if found[1]}
        text = _ANY_TAG.sub(lambda found: " " if found[2] in closed or "=" in found[3] else found[0], text)
    return _AT_FILE.sub(r"\1", text).strip()


def _issue(text: str) -> re.Match[str] | None:
    """The line that names the matter of a form: `title: ...` among other lines of its kind."""
    found = _MATTER.search(text)
    return found if found and len(_FIELD.findall(text[:_FORM])) >= _FIELDS else None


_MATTER = lazy(
    r"^[ \t]*(problem_statement|(?:issue_|pr_)?title|subject|summary|headline)[ \t]*[:：][ \t]*(\S.{8,})$",
    re.IGNORECASE | re.MULTILINE,
)
_FIELD = lazy(r"^[ \t]*[a-z]\w{1,24}:[ \t]+\S", re.MULTILINE)
_BRACKET = lazy(r"^\[\w{2,12}\]:?\s*")
_FORM, _FIELDS = 2_000, 3
"""Characters of a prompt in which a form begins, and lines that make one."""


def _plan(text: str) -> str:
    """The title of a pasted plan; "" when the prompt is no plan."""
    title = _TITLE.search(text)
    if not title:
        return ""
    lead = text[: title.start()]
    name = plain(title[1])
    outlined = size(lead) < 3 and len(_TITLE.findall(text)) >= 3
    if not (_PLAN_LEAD.search(lead) or (outlined and _PLANS.search(f"{name}\n{text}"))):
        return ""
    short = _PLAN_WORD.sub("", name)
    short = re.sub(r"\s*[-—–:]?\s*(?:implementation )?plan$", "", short, flags=re.IGNORECASE) or name
    return clip(short[:1].upper() + short[1:], 140)


def _document(text: str) -> str:
    """The title of a document with headings that a prompt begins with; "" for any other prompt."""
    title = _TITLE.match(text)
    outlined = title and len(text) >= _WRITTEN and len(_TITLE.findall(text)) >= _OUTLINED
    return clip(plain(title[1]), 120) if title and outlined and not _PERSONAL.search(text) else ""


_OUTLINED, _WRITTEN = 3, 600
"""Headings and characters of a text that is a document."""
_PERSONAL = lazy(
    r"[?？]\s*$|\b(?:please|i (?:want|need|would)|can you|could you|let'?s)\b", re.IGNORECASE | re.MULTILINE
)
"""Words of somebody who asks."""


def _goal(text: str) -> str:
    """The first sentence under a plan's goal, context or problem heading."""
    for found in _GOAL.finditer(text):
        for line in text[found.end() :].split("\n", 8)[:8]:
            bare = line.strip(" \t-*")
            if bare.startswith(("#", "```", "|")):
                break
            if _ONLY_CODE.fullmatch(bare):
                continue
            if size(bare) >= 4 and not bare.startswith("[") and not split(bare)[0].endswith(":"):
                return clip(plain(split(bare)[0]), 220)
    return ""


_ONLY_CODE = lazy(r"(?:`[^`]*`|\W)+")


def pasted_error(text: str) -> str:
    """The line of a paste that names an error; "" when the person only writes of errors."""
    if "\n" not in text and len(text) < 160:
        return ""
    lines = text.split("\n")[:400]
    for number, bare in enumerate(lines):
        found = cues.ERROR_LINE.search(bare[:600])
        empty = found and not any(char.isalnum() for char in bare[found.end() :])
        after = lines[number + 1 : number + 6]
        weak = found and not (":" in bare or "=" in bare) and after and cues.ERROR_LINE.search(after[0])
        line = _continued(bare + ":" * bool(weak), after[: 4 + bool(weak)]) if empty or weak else bare
        if (
            found
            and not line.rstrip().endswith((":", "："))
            and "Process completed with exit code" not in line
            and (line.lstrip()[:1] not in "-*" or cues.NOISE_LINE.match(line))
            and not (_SUPPOSES.match(bare) or _CODE_LINE.match(bare))
        ):
            start = line.rfind(". ", 0, found.start()) + 1
            return clip(
                _COUNTER.sub("", plain(line))
                if len(line) < 140
                else plain(line[max(start, found.start() - 60 if found.start() < 80 else found.start()) :]),
                140,
            )
    return ""


_TELLS_NOT = lazy(r"https?://\S+$|\d{1,2}[.)] |[-*] |//|#")
"""A line that says nothing of an error: an address alone, an item of a list, a comment."""
_SUPPOSES = lazy(r"\W*(?:\d+\W+)?(?:if|when|whenever|unless|until|in case|should)\b", re.IGNORECASE)
"""Begins a sentence about an error that may happen."""


def _led_to(text: str, said: tuple[str, ...]) -> str:
    """The first pasted line below last words such as "I get these errors:"."""
    if not said or not said[-1].endswith((":", "：")) or not cues.BROKEN.search(said[-1]):
        return ""
    below = text[text.rfind(said[-1][-12:]) + 12 :] if said[-1][-12:] in text else ""
    lines = (line.strip() for line in below.split("\n"))
    return clip(plain(next((line for line in lines if len(line) >= _TELLS and not _TELLS_NOT.match(line)), "")), 140)


_TELLS = 8
"""Characters of a line that says something."""


def _got(text: str) -> str:
    """What a program said, where a person writes no more than to have got that."""
    found = _GETS.match(text)
    return clip(plain(found[1]), 140) if found and _SYSTEM.search(found[1]) else ""


_GETS = lazy(
    r"\W*(?:(?:now|but|and|still|hm+|ok) )*"
    r"(?:i (?:now |still |just )?(?:get|got|see(?=\b[^\n]*(?:\berror\b|:|[ '\"`(]~?\.{0,2}/\w)))"
    r"|i'?m getting|getting|it (?:says|prints))\b"
    r"(?: (?:this|an|the|error|now))*[: ]+([^\n]{12,400})$",
    re.IGNORECASE,
)
"""A person also sees pages and has wishes: what was seen names an error or a path, or has a colon."""
_SYSTEM = lazy(
    r"no such file or directory|cannot (?:open|find|stat|access)\b.*[:'`\"]|command not found|permission denied"
    r"|connection refused|segmentation fault|\w(?:Error|Exception): |\bpanic: |\bexit (?:code|status) [1-9]",
    re.IGNORECASE,
)
"""How programs word it, not people."""


def _continued(line: str, after: list[str]) -> str:
    """A line that only says "error:", with the lines that say which: no fence, no name of a test before its message."""
    for more, then in zip(after, [*after[1:], ""], strict=False):
        bare = more.strip(" │|┃\t")
        if not any(map(str.isalnum, bare)) or (bare.startswith("--- FAIL") and then.strip()):
            continue
        line = f"{line.rstrip()} {bare}"
        if not line.endswith((":", "=")):
            break
    return line


def _sentences(text: str) -> list[str]:
    """What the person wrote, sentence by sentence, without pasted lines."""
    out: list[str] = []
    for line in _FENCE.sub("\n", text).split("\n"):
        if cues.NOISE_LINE.match(line) or _CODE_LINE.match(line) or _noisy(_URL.sub("http", line)):
            continue
        bare = plain(_URL.sub(_place_name, line).strip(" \t-*•"))
        if (
            out
            and (size(out[-1]) <= 2 or (bare[:1].islower() and out[-1][-1:] not in ".!?:;"))
            and line[:1] not in "-*•"
        ):
            bare = f"{out.pop()} {bare}"
        for one in split(bare):
            trimmed = _untailed(one)
            if size(trimmed) and any(char.isalnum() for char in trimmed):
                out.append(trimmed)
        if len(out) > 40:
            break
    return out


_CODE_LINE = lazy(
    r"^[+-]?\s*(?://|/\*|\*/|<!--|[+-]\s*(?:const|let|var|if|for|return|import|def|func)\b|(?:const|let|var) \w+ ?="
    r"|return\b.*;"
    r"|if ?\(.*[{]|for ?\(.*[{]|[\w.]+\(.*\);?\s*$|\}|.*[;{]\s*$)"
)


_DANGLES = lazy(r"\b(?:to|in|at|from|on|of|with|like|via|per|into)$", re.IGNORECASE)


def _place_name(found: re.Match[str]) -> str:
    """An address within a sentence by its last part; one that ends the line or stands alone is left out."""
    line = found.string
    before = line[: found.start()].strip(" -*•")
    if not before or (not line[found.end() :].strip(" .,;:!?)\"'") and not _DANGLES.search(before)):
        return ""
    parts = [one for one in re.split(r"[?#]", found[0])[0].rstrip("/.,").split("/")[2:] if one]
    return "/".join(parts[-2:]) if parts and parts[-1].isdigit() else parts[-1] if parts else ""


def _untailed(sentence: str) -> str:
    """A sentence without the log that was pasted after it on the same line."""
    for mark in ("  ", " •", " .> ", " ❯ ", " Error:", " error:", " Traceback", "Exception:"):
        at = sentence.find(mark, 24)
        if at > 0 and size(sentence[:at]) >= 6:
            return sentence[:at]
    return sentence


def _noisy(line: str) -> bool:
    """A line of a log or of code: few letters, or few spaces for its length."""
    bare = line.strip()
    if len(bare) < 24 or (not bare.isascii() and any("぀" <= char <= "힣" for char in bare[:60])):
        return False
    letters = sum(map(str.isalpha, bare)) + bare.count(" ")
    return letters < 0.62 * len(bare) or (len(bare) > 60 and bare.count(" ") * 16 < len(bare) and "http" not in bare)
