"""Themes: what belongs together is found across sessions, keeps its number, is listed, and goes with what it is of."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from array import array
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest
from click.testing import CliRunner

from capture.storage import store
from nmem import tables
from nmem import themes as read
from nmem.commands.main import nmem
from nmem.read import episodes
from nmem.read.episode_store import Filter
from nmem.retrieval.documents import RULES
from nmem.retrieval.store import forget
from nmem.themes import keep

SUBJECTS = {"coupon": "rounding cart voucher", "webhook": "retry partner delivery", "footer": "danish notice legal"}
EACH = 6


def _add(db: Connection, subject: str, number: int) -> int:
    """A told episode of a session of its own, with its words in the index."""
    session = f"{subject}{number}"
    at = 1_760_000_000_000 + number * 1000
    db.execute(
        "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at) VALUES (?, 'claude', 1, '/r', ?, ?)",
        (session, at, at),
    )
    prompt = db.execute(
        "INSERT INTO prompts (session_id, at, source, kind, content, dedup_key)"
        " VALUES (?, ?, 'user', 'prompt', 'x', ?)",
        (session, at, session),
    ).lastrowid
    unit = db.execute(
        "INSERT INTO work_units (session_id, first_prompt_id, last_prompt_id, started_at, last_at, intent, heading)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (session, prompt, prompt, at, at, subject, f"The {subject}s, part {number}"),
    ).lastrowid
    last = db.execute(
        "INSERT INTO retrieval_projects VALUES (1, 1, ?) ON CONFLICT DO UPDATE SET last_doc = last_doc + 1"
        " RETURNING last_doc",
        (RULES,),
    ).fetchone()[0]
    db.execute("INSERT INTO retrieval_docs VALUES (?, 1, ?, ?, ?, '')", (unit, last, at, at))
    for word in (subject, *SUBJECTS[subject].split(), "file", "fix"):
        packed = array("I", [last << 8 | 200]).tobytes()
        db.execute(
            "INSERT INTO retrieval_postings VALUES (1, ?, 1, ?) ON CONFLICT DO UPDATE SET docs = docs + 1,"
            " postings = CAST(postings || excluded.postings AS BLOB)",
            (word, packed),
        )
    return int(unit or 0)


@pytest.fixture
def db(db_path: str) -> Iterator[Connection]:
    """A project with three subjects, six sessions each."""
    with closing(store.connect(db_path)) as made:
        tables.ensure(made)
        made.execute("INSERT INTO projects VALUES (1, 'shop', 'shop', '/r', NULL, 0)")
        for number in range(EACH):
            for subject in SUBJECTS:
                _add(made, subject, number)
        yield made


def run(*words: str) -> str:
    result = CliRunner().invoke(nmem, ["themes", *words])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def _of(db: Connection) -> dict[str, set[int]]:
    """Subject -> the themes that its episodes are in."""
    out: dict[str, set[int]] = {}
    for intent, theme in db.execute(
        "SELECT u.intent, t.theme FROM unit_themes t JOIN work_units u ON u.id = t.unit_id"
    ):
        out.setdefault(intent, set()).add(theme)
    return out


def test_episodes_on_the_same_subject_are_one_theme_across_sessions(db: Connection) -> None:
    assert keep.keep(db) == 3
    themes = _of(db)
    assert all(len(numbers) == 1 for numbers in themes.values())
    assert len(set.union(*themes.values())) == 3
    labels = {each.label for each in read.themes(db)}
    assert all(2 <= len(label.split()) <= 4 for label in labels)
    assert any("coupons" in label for label in labels)  # as the titles write it
    assert not any("file" in label for label in labels)


def test_a_theme_keeps_its_number_as_the_project_grows(db: Connection) -> None:
    keep.keep(db)
    before = _of(db)
    assert keep.keep(db) == 0  # nothing has come since
    for number in range(EACH, EACH + 8):
        for subject in SUBJECTS:
            _add(db, subject, number)
    assert keep.keep(db) > 0
    after = _of(db)
    assert all(before[subject] & after[subject] for subject in SUBJECTS)
    assert not before["coupon"] & after["webhook"]


def test_few_episodes_or_no_scikit_learn_make_no_themes(db: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    assert keep.grouped({number: {"coupon": 1.0} for number in range(keep.LEAST - 1)}, {}) == []
    assert keep.grouped({number: {"fix": 1.0} for number in range(30)}, {}) == []
    monkeypatch.setattr(keep, "possible", lambda: False)
    assert keep.keep(db) == 0
    assert run() == "no themes: `nmem settle` groups episodes on the same subject\n"


def test_themes_are_listed_and_browsed(db: Connection) -> None:
    keep.keep(db)
    found = json.loads(run("--json"))["themes"]
    assert [(each["episodes"], each["sessions"], each["project"]) for each in found] == [(EACH, EACH, "shop")] * 3
    assert run("--limit", "1").count("\n") == 3
    assert {each["example"] for each in found} == {f"The {subject}s, part {EACH - 1}" for subject in SUBJECTS}
    number = str(found[0]["id"])
    shown = CliRunner().invoke(nmem, ["show", f"theme/{number}"])
    assert shown.exit_code == 0 and shown.output == run(number)
    assert run("--since", "2100-01-01").startswith("no themes: ")
    lines = run(number, "--limit", "4").splitlines()
    assert lines[0] == f"# Theme {number}: {found[0]['label']}"
    assert len(lines) == 7
    assert lines[-1] == "(2 episodes more: --limit)"
    assert len(json.loads(run(number, "--json"))["listed"]) == EACH
    assert CliRunner().invoke(nmem, ["themes", "99"]).exit_code == 1


def test_a_theme_is_told_by_the_title_that_says_most_of_its_words(db: Connection) -> None:
    db.execute("UPDATE work_units SET heading = 'Rounding in coupons: the cart' WHERE heading = 'The coupons, part 1'")
    keep.keep(db)
    (theme,) = [each for each in read.themes(db) if "coupons" in each.label]
    assert theme.example == "Rounding in coupons: the cart"
    assert theme.example in run()


def test_the_list_of_episodes_is_filtered_by_theme(db: Connection) -> None:
    keep.keep(db)
    (number,) = _of(db)["footer"]
    db.row_factory = sqlite3.Row
    assert len(episodes.page(db, None, Filter(f"theme:{number}")).slots) == EACH
    assert len(episodes.page(db, None, Filter(f"!theme:{number}")).slots) == 2 * EACH
    assert len(episodes.page(db, None, Filter("theme:coupons")).slots) == EACH


def test_themes_go_with_the_index_that_they_are_made_of(db: Connection) -> None:
    keep.keep(db)
    forget(db, [1])
    assert db.execute("SELECT count(*) FROM unit_themes").fetchone() == (0,)
    assert read.themes(db) == []


def test_no_hook_and_no_listing_imports_scikit_learn() -> None:
    root = str(Path(keep.__file__).parents[2])
    code = (
        f"import sys; sys.path.insert(0, {root!r})\n"
        "import nmem.settle, nmem.themes.keep, nmem.themes, nmem.commands.themes\n"
        "print(any(name.startswith('sklearn') for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout.strip()) == (0, "False")
