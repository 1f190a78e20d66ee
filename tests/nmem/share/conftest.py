"""A session that another program stored: with secrets that nobody redacted, and texts that act where they are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.redaction import settings
from nmem import database
from nmem.settle import settle
from tests.nmem.conftest import Recorded

TOKEN = "ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
KEY = "AKIA" + "QX3L7RZP5WNDT2VB"
PASSWORD = "hunter2-Vx93kq"
SECRETS = (TOKEN, KEY, PASSWORD)
HOSTILE = (
    "<script>alert(1)</script>", "[click](javascript:alert(1))", "![x](http://evil.example/p.png)", "[bold]loud[/bold]",
    "\x1b[31mred\x1b]0;title\x07", "</code></pre><img src=x onerror=alert(1)>", "```\n<b>out</b>\n```", "\u202egnp.exe",
    "@octocat closes #12, see https://evil.example and www.evil.example or entire.io/x", "<!-- c -->", "~~~~\n# top",
)  # fmt: skip
ROOT = "/home/anna/src/shop"


@pytest.fixture
def told(record: Recorded, db_path: str) -> Callable[[], Connection]:
    """Settle what was recorded, long after; a connection that reads it."""

    def run() -> Connection:
        record.db.execute("UPDATE projects SET root = ?", (ROOT,))
        record.db.execute("UPDATE sessions SET cwd = ?, branch = 'coupons'", (ROOT,))
        settle(db_path, 600, models=False, clock=lambda: record.at + 86_400_000)
        return database.reader(db_path)

    return run


@pytest.fixture
def coupon(record: Recorded, told: Callable[[], Connection]) -> Connection:
    """A plain session of one episode, with thinking, and a file outside of the project."""
    record.coupon().agent("Maybe it is the rounding.", kind="thinking")
    record.act("file_read", "/home/anna/notes.txt", "/home/anna/notes.txt")
    record.act("command", f"cd {ROOT} && ls {ROOT}/src /home/bert/x")
    return told()


@pytest.fixture
def hostile(record: Recorded, told: Callable[[], Connection]) -> Connection:
    """Secrets and hostile texts in every row that can hold them, and in what was made of these rows."""
    bad = "\n".join(HOSTILE)
    record.begin("hostile").user(f"{bad}\nFix the coupon with {TOKEN}, the password: {PASSWORD}")
    record.act("command", f"export AWS_ACCESS_KEY_ID={KEY}; psql {PASSWORD} {bad}")
    record.test("failed", response=f"{bad} denied for {TOKEN}").edit(f"src/<script>{TOKEN}.py")
    record.act("git_commit", f"git commit -m 'use {TOKEN} {bad}'").agent(f"{bad}\nI logged in with {TOKEN}")
    db = told()
    record.db.execute(
        "UPDATE work_units SET title = ?, completed = ?, learned = ?, hot_files = ?, commits = ?",
        (f"Fix <script>alert(1)</script> {TOKEN[:24]}", f'["psql {PASSWORD}"]', f'["it is {KEY[:12]}…"]',
         f'[{{"path": "{ROOT}/{TOKEN}", "edits": 1, "reads": 1, "failures": 0}}]',
         f'[{{"hash": "<b>", "message": "use {TOKEN}", "branch": ""}}]'),
    )  # fmt: skip
    return db


@pytest.fixture
def shop_rules(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Make rules of the project's own, which what is stored is older than: a word, and strict."""

    def write() -> None:
        file = own_home / "config.toml"
        file.write_text('[redaction.projects.shop]\nwords = ["Falkenstein"]\nsensitivity = "strict"\n', "utf-8")
        monkeypatch.setenv("NMEM_CONFIG", str(file))
        monkeypatch.setattr(settings, "RECHECK", 0.0)

    return write
