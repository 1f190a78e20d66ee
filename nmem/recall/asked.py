"""Runs `nmem when` and `nmem how`: queries in, answers out, without the rest of the command line."""

from __future__ import annotations

import sys

from capture import paths
from nmem.errors import NmemError
from nmem.recall import folder, log, store, told
from nmem.recall.answer import Answer
from nmem.recall.resolve import Resolver, is_null
from nmem.text import to_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nmem.recall.store import Recall


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
    if as_json:
        sys.stdout.write(to_json({"answers": [each.form() for each in found], "warnings": recall.warnings}) + "\n")
    else:
        texts = [text for each in found if (text := told.told(each))]
        sys.stdout.write(told.BETWEEN.join(texts))
    sys.stdout.flush()
    log.note(paths.database(), recall.place, found, log.origin())
    return int(not all(each.good for each in found))
