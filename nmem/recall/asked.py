"""Runs `nmem when` and `nmem how` without the command line, words their answers, and has the questions noted.

A question is answered whether or not it can be noted: who asks is not made to wait for the database.
"""

from __future__ import annotations

import os
import sys

from capture import paths
from capture.text import attached
from nmem.errors import NmemError
from nmem.names import cited
from nmem.recall import folder, loaded, store
from nmem.recall.resolve import ANSWERED, SILENT, Answer, Resolver, is_null
from nmem.recall.words import STOP, name, stem, words
from nmem.text import printable, to_json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.recall.folder import Place
    from nmem.recall.loaded import Recall
    from nmem.teammates.read import Fact

PERSON, AGENT = "person", "agent"
_SESSION = "CLAUDE_CODE_SESSION_ID"
_AGENTS = (_SESSION, "CLAUDECODE", "CODEX_SANDBOX", "CODEX_THREAD_ID", "CURSOR_AGENT", "COPILOT_CLI", "GEMINI_CLI",
           "OPENCODE", "NMEM_TASK")  # fmt: skip
"""What clients set in the environment of what their agents run."""
_LONGEST, _WAIT = 300, 0.25


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
        recall = loaded.of(folder.named(index, decisions)) if decisions else loaded.here(cwd)
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
    note(paths.database(), recall.place, found, origin())
    return int(not all(each.good for each in found))


def origin() -> str:
    """Who asks at a command line: a person, also through a pipe, unless a client's environment says: an agent."""
    return AGENT if any(os.environ.get(name) for name in _AGENTS) else PERSON


def note(db_path: str, place: Place, answers: list[Answer], who: str, session: str = "") -> None:
    """Note questions and what they came to, in the session that is named, else the one that the client's environment
    names; what cannot be noted is said in the log."""
    answers = [each for each in answers if each.kind != SILENT]
    if not answers or not os.path.exists(db_path):
        return
    from capture.redaction import redact  # on use: start-up stays short
    from capture.storage.store import connect, transaction
    from nmem import tables

    try:
        db = connect(db_path, timeout=_WAIT)
        try:
            tables.ensure(db)
            with transaction(db):
                rows = [
                    (redact(each.query)[:_LONGEST], each.entry, each.file, each.kind, each.confidence)
                    for each in answers
                ]
                store.note(db, place.folder, place.root, rows, who, session or os.environ.get(_SESSION, ""))
        finally:
            db.close()
    except Exception as error:  # noqa: BLE001 - a boundary: what was answered is answered, noted or not
        from capture import log  # on use: start-up stays short

        log.note(db_path, f"recall: a question was not noted: {log.reason(error)}")


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
    for label, links in (("Broader:", answer.broader), ("Related:", answer.related)):
        if links:
            out += [label, *map(printable, links), ""]
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
_MOST = 3
_SHARED = 2
"""Words that a query and a name share at least, where they are not the same."""


def beside(db_path: str, place: Place, answers: list[Answer]) -> list[tuple[Fact, bool]]:
    """Others' entries that the queries mean, and whether one's own of the same name says something else.

    One that says what one's own says is left out. Never raises for a database that cannot be read: then there are none.
    """
    if not os.path.exists(db_path):
        return []
    from contextlib import closing  # on use: start-up stays short
    from sqlite3 import Error, connect

    try:
        with closing(connect(f"file:{db_path.replace('?', '%3f').replace('#', '%23')}?mode=ro", uri=True)) as db:
            return _of(db, place, answers)
    except Error:
        return []


def _of(db: Connection, place: Place, answers: list[Answer]) -> list[tuple[Fact, bool]]:
    from nmem.teammates import live  # on use: as before

    project_id = store.project(db, place.root)
    if project_id is None or not live.any_of(db, project_id):
        return []
    from nmem.teammates.read import Wanted, said  # on use: few share a project with a team

    asked = [one for answer in answers for one in (answer.query, answer.entry) if one]
    own = {name(answer.entry): _flat(answer.body) for answer in answers if answer.good and answer.entry}
    wanted = Wanted((live.RECALL,), [project_id], fits=lambda title, *_: any(_means(one, title) for one in asked))
    out = []
    for one in said(db, wanted, _MOST * 2):
        mine = own.get(name(one.title))
        if mine != _flat(one.body):
            out.append((one, mine is not None))
    return out[:_MOST]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _means(query: str, title: str) -> bool:
    """Whether a query is the name of an entry, or has all that one of them says."""
    if name(query) == name(title):
        return True
    asked, named = ({stem(word) for word in words(name(each)) if word not in STOP} for each in (query, title))
    return len(asked & named) >= _SHARED and (asked <= named or named <= asked)
