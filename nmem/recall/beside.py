"""Finds what others of the team wrote down for a situation, to stand behind one's own answer.

Who asks is not made to wait: without a database, or where others wrote nothing down for the project, one look is all.
"""

from __future__ import annotations

import os

from nmem.recall import store
from nmem.recall.words import STOP, name, stem, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

    from nmem.recall.answer import Answer
    from nmem.recall.folder import Place
    from nmem.teammates.read import Fact

MOST = 3
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
    for one in said(db, wanted, MOST * 2):
        mine = own.get(name(one.title))
        if mine != _flat(one.body):
            out.append((one, mine is not None))
    return out[:MOST]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _means(query: str, title: str) -> bool:
    """Whether a query is the name of an entry, or has all that one of them says."""
    if name(query) == name(title):
        return True
    asked, named = ({stem(word) for word in words(name(each)) if word not in STOP} for each in (query, title))
    return len(asked & named) >= _SHARED and (asked <= named or named <= asked)
