"""`nmem fix`: the text of an error, from the arguments or from a pipe, gives what put it right."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from nmem.commands.fix import command
from tests.nmem.learn.conftest import Shop

KEY = "npm test | npm: no script test"
LINE = 'npm ERR! Missing script: "test"'


@pytest.fixture
def known(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.chdir(shop.folder)
    number = shop.learning("`npm test` fails: Missing script", key=KEY)
    shop.db.execute("UPDATE learning_evidence SET excerpt = ? WHERE learning_id = ?", (LINE, number))
    return shop


def asked(*words: str, given: str = "") -> tuple[int, str, str]:
    done = CliRunner().invoke(command, list(words), input=given, standalone_mode=False)
    assert done.exception is None, done.exception
    return int(done.return_value or 0), done.stdout, done.stderr


@pytest.mark.parametrize(("words", "given"), [
    ((LINE,), ""), (("npm test",), ""), (("npm", "test", "2>&1"), ""), (("-",), f"> shop@1.0.0 test\n{LINE}\n"),
    ((), f"a line before\n\x1b[31m{LINE}\x1b[0m\n"),
])  # fmt: skip
def test_an_error_or_a_command_gives_what_put_it_right(known: Shop, words: tuple[str, ...], given: str) -> None:
    code, said, _ = asked(*words, given=given)
    assert code == 0
    assert "`pnpm test` works" in said
    assert "learning/" in said


def test_as_json(known: Shop) -> None:
    code, said, _ = asked(LINE, "--json")
    found = json.loads(said)
    assert code == 0
    assert found["fixes"][0]["commands"] == ["pnpm test"]
    assert (found["fixes"][0]["times"], found["elsewhere"]) == (3, False)


def test_what_is_not_known_is_said_and_the_exit_code_tells(known: Shop) -> None:
    code, said, errors = asked("Segmentation fault in quokka")
    assert (code, said) == (1, "")
    assert "no known fix of this error, nor of one with the same words" in errors
    code, said, _ = asked("Segmentation fault in quokka", "--json")
    assert code == 1
    assert json.loads(said)["fixes"] == []


def test_what_a_person_dismissed_is_not_told(known: Shop) -> None:
    known.db.execute("UPDATE learnings SET state = 'dismissed'")
    assert asked(LINE)[0] == 1


def test_another_project_is_asked_where_this_one_knows_nothing(known: Shop) -> None:
    known.db.execute("INSERT INTO projects VALUES (2, '/src/else', 'else', '/src/else', NULL, 0)")
    known.db.execute("UPDATE learnings SET project_id = 2")
    code, said, _ = asked(LINE)
    assert code == 0
    assert "else" in said
    assert asked(LINE, "--project", "shop")[0] == 1
    assert asked(LINE, "--project", "else")[0] == 0


def test_one_session_is_told_where_no_learning_is(known: Shop) -> None:
    known.db.execute("DELETE FROM learnings")
    fix = {"kind": "command", "text": "After `pip install yaml` it passes", "files": [], "ids": [1],
           "commands": ["pip install yaml"]}  # fmt: skip
    data = {
        "title": "no module yaml",
        "count": 1,
        "failures": [{"id": 1, "at": 5, "p": 1, "c": "", "x": "", "fix": fix}],
    }
    known.db.execute(
        "INSERT INTO learning_findings VALUES (1, 'error', 'python: no module yaml', 'one', 1, ?)", (json.dumps(data),)
    )
    code, said, _ = asked("ModuleNotFoundError: No module named 'yaml'")
    assert (code, "pip install yaml" in said, "session/one" in said) == (0, True, True)


@pytest.mark.parametrize("part", ["Missing script", "missing", "npm script", "npm ERR script missing here", "script"])
def test_a_part_of_an_error_gives_the_nearest_and_says_so(known: Shop, part: str) -> None:
    code, said, errors = asked(part)
    assert code == 0
    assert "`pnpm test` works" in said
    assert "this error is not known as it stands; perhaps the same: an error that also has" in errors
    assert json.loads(asked(part, "--json")[1])["partial"] is True


@pytest.mark.parametrize(
    "part", ["error", "failed with exit code 1", "script of a play about a quokka in a zoo", "quokka"]
)
def test_words_of_every_error_and_of_none_give_nothing(known: Shop, part: str) -> None:
    code, said, errors = asked(part)
    assert (code, said) == (1, "")
    assert "no known fix of this error, nor of one with the same words" in errors


def test_a_part_of_what_one_session_put_right(known: Shop) -> None:
    known.db.execute("DELETE FROM learnings")
    fix = {"kind": "command", "text": "After `nmem init` it passes", "files": [], "ids": [1], "commands": ["nmem init"]}
    failure = {
        "id": 1,
        "at": 5,
        "p": 1,
        "c": "",
        "x": "OperationalError: table cart has no column named pinned",
        "fix": fix,
    }
    data = {"title": "sqlite: no column", "count": 1, "failures": [failure]}
    known.db.execute("INSERT INTO learning_findings VALUES (1, 'error', 'sqlite', 'one', 1, ?)", (json.dumps(data),))
    code, said, errors = asked("no column named pinned")
    assert (code, "nmem init" in said, "session/one" in said) == (0, True, True)
    assert "column, named, pinned" in errors


def test_the_whole_error_is_no_partial_match(known: Shop) -> None:
    assert json.loads(asked(LINE, "--json")[1])["partial"] is False
    assert asked(LINE)[2] == ""
