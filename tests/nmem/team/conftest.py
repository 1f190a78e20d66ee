"""Members of a team, each with a memory of their own, and one server for all tests of a process."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from capture.storage import store
from nmem import tables
from nmem.purge import run
from nmem.purge.selection import Selection
from nmem.team import config, sync, wire
from nmem.team.config import Membership
from nmem.team.server import Server, connected, prepare
from nmem.team.sync import Pass
from tests.nmem.team import postgres
from tests.nmem.team.postgres import Postgres

NOW = 1_760_000_000_000
PROJECT = "github.com/acme/shop"
Rows = list[tuple[Any, ...]]


@pytest.fixture(scope="session")
def running() -> Iterator[Postgres]:
    """One server; each test has a database of its own on it."""
    pytest.importorskip("psycopg")
    if why := postgres.missing():
        pytest.skip(why)
    made = Postgres()
    try:
        made.start()
        for name in ("alice", "bob", "carol", "mallory"):
            made.sql(f"CREATE ROLE {name} LOGIN")
        made.sql("CREATE DATABASE ready")
        set_up(made.url(database="ready"))
        yield made
    finally:
        made.remove()


def set_up(url: str) -> list[str]:
    """Make a database one of the team `acme`."""
    return prepare(config.address(url), "acme", {"alice": "alice", "bob": "bob", "carol": "carol"})


class Team:
    """A database on the server that is set up for the team `acme`."""

    def __init__(self, server: Postgres, database: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.server, self.database, self.folder, self.patch = server, database, folder, monkeypatch

    def set_up(self) -> None:
        set_up(self.url("postgres"))

    def url(self, login: str) -> str:
        return self.server.url(login, self.database)

    def sql(self, statement: str, *given: Any) -> Rows:
        return self.server.sql(statement, *given, database=self.database)

    def member(self, name: str, machine: str = "") -> Member:
        return Member(self, name, machine or f"{name}-one")

    def facts(self) -> dict[str, tuple[str, str, str]]:
        """What the server has: id -> author, title, body."""
        return {row[0]: row[1:] for row in self.sql("SELECT id, author, title, body FROM nmem.facts")}


class Member:
    """A person's memory on one machine, with the project of the team in it."""

    def __init__(self, team: Team, name: str, machine: str) -> None:
        self.team, self.name = team, name
        self.folder = team.folder / machine
        self.folder.mkdir(exist_ok=True)
        self.db_path = str(self.folder / "nmem.db")
        with self.here():
            with self.db() as db:
                tables.ensure(db)
                db.execute("INSERT OR IGNORE INTO projects (id, key, name, root, remote, created_at) VALUES"
                           " (1, ?, 'shop', ?, ?, 0)", (PROJECT, str(self.folder / "shop"), PROJECT))  # fmt: skip
            self.join()

    def join(self, login: str = "", share: bool = True) -> None:
        from tests.nmem.command_line import run as nmem

        with self.here():
            words = ["sync", "init", self.team.url(login or self.name), "--team", "acme", "--as", self.name]
            done = nmem(*words, *(["--project", PROJECT] if share else []))
            assert done.returncode == 0, done.stderr

    @contextmanager
    def here(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("NMEM_DB", self.db_path)
            patch.setenv("NMEM_CONFIG", str(self.folder / "config.toml"))
            yield

    @contextmanager
    def db(self) -> Iterator[sqlite3.Connection]:
        with closing(store.connect(self.db_path, timeout=10)) as db:
            yield db

    def us(self) -> Membership:
        with self.here():
            return config.needed()

    def now(self, **more: Any) -> Pass:
        """One pass."""
        with self.here():
            done = sync.run(self.db_path, **more)
        assert done is not None
        return done

    def learn(self, *rules: str, project: int = 1, state: str = "accepted") -> None:
        """Learnings that the person accepted."""
        with self.db() as db:
            db.executemany(
                "INSERT INTO learnings (project_id, kind, key, title, rule, first_at, last_at, sessions, occurrences,"
                " state, state_at) VALUES (?, 'correction', ?, ?, ?, 1, 1, 2, 2, ?, ?)",
                [(project, f"{self.name} {rule}", rule, rule, state, NOW) for rule in rules],
            )

    def episode(self, session: str, title: str, summary: str, files: tuple[str, ...] = ()) -> int:
        """A session of one episode that is told; the episode's number."""
        with self.db() as db:
            db.execute("INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES"
                       " (?, 'claude', 1, '/src/shop', ?, ?)", (session, NOW, NOW))  # fmt: skip
            prompt = db.execute(
                "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
                " VALUES (?, ?, 'user', 'prompt', ?, ?)",
                (session, NOW, title, session),
            ).lastrowid
            unit = db.execute(
                "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, state,"
                " intent, title, summary, files_edited, narrated_at, narrator)"
                " VALUES (?, ?, ?, ?, ?, 'closed', ?, ?, ?, ?, ?, 'extractive')",
                (session, prompt, prompt, NOW, NOW, title, title, summary, json.dumps(files), NOW),
            ).lastrowid
            db.execute("INSERT INTO unit_prompts (prompt_id, unit_id, label, decided_by) VALUES (?, ?, 'new', 'first')",
                       (prompt, unit))  # fmt: skip
            db.execute("INSERT INTO narrations (unit_id, told_of, by_model) VALUES (?, '', 0)", (unit,))
            return int(unit or 0)

    def purge(self, **chosen: Any) -> None:
        run.purge(self.db_path, Selection(**chosen), NOW)

    def rows(self, what: str = "id, subject, author, title, body, files, data", where: str = "1") -> Rows:
        with self.db() as db:
            return sorted(tuple(row) for row in db.execute(f"SELECT {what} FROM team_facts WHERE {where}"))

    def titles(self, where: str = "gone = 0") -> set[str]:
        return {row[0] for row in self.rows("title", where)}

    def write(self, *titles: str, subject: str = "", kind: str = "decision", body: str = "") -> list[str]:
        """Versions that wait to be sent, as they are; their ids."""
        us, ids = self.us(), [wire.new_id() for _ in titles]
        with self.db() as db:
            db.executemany(
                "INSERT INTO team_facts (id, team, kind, subject, project_id, author, device, at, title, body, own)"
                " VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, 1)",
                [(each, us.team, kind, subject or wire.subject(us.member, title, us.device), us.member, us.device, NOW,
                  title, body) for each, title in zip(ids, titles, strict=True)],
            )  # fmt: skip
        return ids


@pytest.fixture
def team(running: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """A team on a database of the test's own."""
    name = f"t{os.getpid()}_{abs(hash(tmp_path))}"
    running.sql(f"CREATE DATABASE {name} TEMPLATE ready")
    try:
        yield Team(running, name, tmp_path, monkeypatch)
    finally:
        running.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def three(team: Team) -> tuple[Member, Member, Member]:
    return team.member("alice"), team.member("bob"), team.member("carol")


def settled(*members: Member, passes: int = 2) -> None:
    """Everybody has what everybody has."""
    for _ in range(passes):
        for each in members:
            each.now()


Speak = Callable[[Server], Any]


def on_server(member: Member, speak: Speak, login: str = "") -> Any:
    """What a login is answered."""
    us = member.us()
    with connected({**us.server, **({"user": login} if login else {})}) as db:
        return speak(Server(db, "acme"))
