"""Runs `nmem when` and `nmem how` without the command line, and words their answers for people and agents."""

from __future__ import annotations

import sys

from capture import paths
from capture.text import attached
from nmem.errors import NmemError
from nmem.names import cited
from nmem.recall import folder, log, store
from nmem.recall.answer import ANSWERED, SILENT, Answer
from nmem.recall.beside import beside
from nmem.recall.resolve import Resolver, is_null
from nmem.text import printable, to_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from nmem.recall.store import Recall
    from nmem.teammates.read import Fact


def queries(given: list[str]) -> list[str]:
    """What is asked: each argument where one is a phrase or a link, else all of them as the words of one query."""
    if len(given) > 1 and not any(" " in each.strip() for each in given):
        return [" ".join(given)]
    return given


def answers(recall: Recall, asked: list[str], operator: str, limit: int = 5) -> list[Answer]:
    """The answer to each query; one that comes again is answered once."""
    resolver = Resolver(recall)
    out: list[Answer] = []
    seen: set[tuple[str, str, int]] = set()
    for query in asked:
        answer = resolver.ask(query, operator, limit)
        key = (answer.file, answer.heading, answer.line) if answer.good and answer.file else (answer.query, "", -1)
        if key not in seen:
            seen.add(key)
            out.append(answer)
    return out


def run(
    operator: str, asked: list[str], *, as_json: bool = False, limit: int = 5, cwd: str = "",
    index: str = "", decisions: str = "",
) -> int:  # fmt: skip
    """Print the answers, those that hold what was asked for first; the exit code. Raises NmemError."""
    try:
        recall = store.of(folder.named(index, decisions)) if decisions else store.here(cwd)
    except NmemError:
        if decisions or not all(map(is_null, asked)):
            raise
        if as_json:
            sys.stdout.write('{"answers": [], "warnings": []}\n')
        return 0  # nothing is asked, of nowhere
    found = answers(recall, asked, operator, limit)
    found.sort(key=lambda each: not each.good)
    theirs = beside(paths.database(), recall.place, found)
    if as_json:
        more = {"team": [one.form() for one, _ in theirs]} if theirs else {}
        forms = {"answers": [each.form() for each in found], **more, "warnings": recall.warnings}
        sys.stdout.write(to_json(forms) + "\n")
    else:
        texts = [text for each in found if (text := told(each))]
        sys.stdout.write(BETWEEN.join([*texts, *(by_another(one, otherwise=other) for one, other in theirs)]))
    sys.stdout.flush()
    for warning in recall.warnings[:_WARNINGS] if not as_json else ():
        sys.stderr.write(f"note: {printable(warning)}\n")
    log.note(paths.database(), recall.place, found, log.origin())
    return int(not all(each.good for each in found))


_PATH = 400
_WARNINGS = 3
"""What could not be read that is told beside answers; `nmem recall check` tells all."""
BETWEEN = "\n---\n"
"""Between the answers to several queries."""


def told(answer: Answer) -> str:
    """The answer, printable, ending in a line feed; "" where silence was asked for."""
    if answer.kind == SILENT:
        return ""
    if answer.kind != ANSWERED:
        return _otherwise(answer)
    whole = not answer.broader
    out = [] if whole else [f"# {printable(answer.heading)}", ""]
    out += [safe(answer.body), ""]
    for name, links in (("Broader:", answer.broader), ("Related:", answer.related)):
        if links:
            out += [name, *map(printable, links), ""]
    where = cited(answer.file, _PATH) + ("" if whole else f":{answer.line}")
    sure = f" (confidence {answer.confidence:.2f})" if answer.confidence < 1 else ""
    return "\n".join([*out, f"Source: {where}{sure}"]) + "\n"


def by_another(one: Fact, *, otherwise: bool) -> str:
    """What another member wrote down, printable, under the name and the date."""
    from nmem.hours import utc  # on use: few share a project with a team

    head = "From your team, not as you have it" if otherwise else "From your team"
    day = f"{utc(one.at).astimezone():%Y-%m-%d}"
    where = f"Source: {cited(one.files[0], _PATH)}, " if one.files else ""
    return f"{head}: {printable(one.title)}\n\n{safe(one.body)}\n\n{where}{printable(one.who)}, {day}\n"


def _otherwise(answer: Answer) -> str:
    asked = f"{printable(answer.query)}: " if answer.query else ""
    out = [f"{asked}{printable(answer.said)}"]
    for each in answer.offers:
        score = f"{each.score:.2f}  " if 0 < each.score < 1 else ""
        out.append(
            f"  {score}{printable(each.link)}  ({cited(each.file, _PATH)})"
            if each.file
            else f"  {printable(each.link)}"
        )
    return "\n".join(out) + "\n"


def safe(text: str) -> str:
    """A text as it is, but for controls and what reorders or hides: those become visible."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = attached(text)
    return "".join(char if char in "\n\t" or char.isprintable() or char in _KEPT else printable(char) for char in text)


_KEPT = "\u00a0\u200c\u200d\ufe0e\ufe0f\u3000\u2009\u202f"
"""Blanks, and what joins or colours pictures: harmless, and part of what a person wrote."""
