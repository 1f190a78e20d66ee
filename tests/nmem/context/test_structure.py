"""What git moved, renamed or deleted between two sessions: kept by settling, told to the next session, listed."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nmem import structure
from nmem.commands.main import nmem
from nmem.store.git import run as git
from tests.nmem.context.conftest import START, Played

SAME = "the cart total in shop/cart.py loses a cent again when a voucher is used, fix it once more"


class Repository:
    """A checkout whose commits are made at the time of the played sessions."""

    def __init__(self, root: Path, played: Played) -> None:
        self.root, self.played = root, played
        played.folder = str(root)
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str, who: str = "Ann") -> str:
        stamp = f"{self.played.at // 1000} +0000"
        env = {
            **os.environ, "GIT_AUTHOR_NAME": who, "GIT_AUTHOR_EMAIL": "a@b.c", "GIT_COMMITTER_NAME": who,
            "GIT_COMMITTER_EMAIL": "a@b.c", "GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp,
        }  # fmt: skip
        done = subprocess.run(["git", *words], cwd=self.root, env=env, capture_output=True, check=True, text=True)
        return done.stdout.strip()

    def write(self, *names: str) -> None:
        for name in names:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text("".join(f"{name} has a line {number}\n" for number in range(20)))

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        self.git("mv", old, new)

    def commit(self, who: str = "Ann") -> str:
        """A commit of everything, a minute later; its abbreviated hash."""
        self.played.at += 60_000
        self.git("add", "-A")
        self.git("commit", "-qm", "work", who=who)
        return self.git("rev-parse", "--short", "HEAD")

    def look(self) -> None:
        db = self.played.database()
        structure.keep(db, self.played.at + 1)
        db.close()

    def rows(self) -> dict[str, tuple[str, str]]:
        db = self.played.database()
        found = db.execute("SELECT path, change, name FROM moved_files").fetchall()
        db.close()
        return {path: (change, name) for path, change, name in found}


@pytest.fixture
def repository(played: Played, tmp_path: Path) -> Repository:
    root = tmp_path / "shop"
    root.mkdir()
    made = Repository(root, played)
    made.write("shop/cart.py", "shop/price.py", "shop/old.py", "shop/tax.py", "docs/a.md")
    made.commit()
    return made


def worked(repository: Repository, *more: str) -> Played:
    """A session that edited the cart and more is over and settled."""
    played = repository.played
    played.begin("a")
    played.ask("the cart total in shop/cart.py loses a cent when a voucher is used, find out why and fix it")
    for path in ("shop/cart.py", *more):
        played.edit(path, f"{path} has a line 1", f"{path} has the line 1")
    played.say("Fixed: `int()` truncated the quokka fraction; rounding half up keeps the cent.")
    played.end()
    played.settle()
    return played


def test_the_next_session_is_told_what_others_moved_and_by_their_new_names(repository: Repository) -> None:
    played = worked(repository, "shop/price.py", "shop/old.py")
    played.at += 3_600_000
    repository.move("shop/cart.py", "shop/basket/cart.py")
    repository.move("shop/price.py", "shop/prices.py")
    repository.move("docs/a.md", "docs/b.md")
    repository.git("rm", "-q", "shop/old.py")
    commit = repository.commit("Bob")
    assert played.begin("b") == "", "settling has not looked yet, and a hook runs no git"
    repository.look()  # what the start of the session started
    told = played.ask(SAME)
    assert f"- `shop/cart.py` moved to `shop/basket/cart.py` since the last session ({commit})." in told
    assert f"- `shop/price.py` was renamed to `shop/prices.py` since the last session ({commit})." in told
    assert f"- `shop/old.py` is gone since the last session ({commit})." in told
    assert "docs/a.md" not in told, "no session edited it"
    rest = told.rpartition("since the last session")[2]
    assert "`shop/basket/cart.py`" in rest and "`shop/cart.py`" not in rest, "earlier work is told by its new names"
    assert "moved" not in played.ask("also write a changelog entry about the voucher rounding of the cart")
    played.end()
    played.settle()
    assert "Moved" not in played.begin("c") + played.ask(SAME), "that was before the last session"


def test_what_is_known_is_told_at_the_start_and_believed_only_as_the_disk_agrees(repository: Repository) -> None:
    played = worked(repository)
    played.at += 3_600_000
    repository.git("checkout", "-q", "-b", "other")
    repository.move("shop/cart.py", "shop/basket.py")
    commit = repository.commit()
    repository.look()
    assert f"`shop/cart.py` was renamed to `shop/basket.py` since the last session ({commit})" in played.begin("b")
    repository.git("checkout", "-q", "main")  # the file is at its old place again, and settling has not seen it
    assert "basket" not in played.begin("c", gap=1000) + played.ask(SAME)
    repository.look()
    assert "shop/cart.py" not in repository.rows(), "what is back is not moved"


def test_a_resumed_session_is_told_what_moved_while_it_was_away(repository: Repository) -> None:
    played = worked(repository)
    played.at += 3_600_000
    repository.move("shop/cart.py", "cart/cart.py")
    repository.commit("Bob")
    repository.look()
    assert "`shop/cart.py` moved to `cart/cart.py` since this session was left" in played.begin("a", "resume")


def test_a_whole_folder_is_one_sentence_and_the_rest_is_counted(repository: Repository) -> None:
    names = [f"lib/f{number}.py" for number in range(4)]
    singles = [f"one{number}/g{number}.py" for number in range(6)]
    repository.write(*names, *singles)
    repository.commit()
    played = worked(repository, *names, *singles)
    played.at += 3_600_000
    for name in names:
        repository.move(name, name.replace("lib/", "core/lib/"))
    for name in singles:
        repository.move(name, name.replace("one", "two"))
    repository.commit()
    repository.look()
    told = played.begin("b")
    assert "and 3 other files of `lib` moved to `core/lib` since the last session" in told
    assert told.count("\n- ") == 4 and "3 more changes like these: `nmem hot --moved`." in told


def test_moves_add_up_and_a_first_look_takes_in_what_sessions_know(repository: Repository, db_path: str) -> None:
    played = repository.played
    played.begin("a")
    played.ask("fix the rounding of the cart and its tax, please, for all vouchers")
    played.edit("shop/cart.py")
    played.edit("shop/tax.py")
    played.end()
    repository.move("shop/cart.py", "b/cart.py")
    repository.move("docs/a.md", "docs/b.md")
    repository.commit()
    repository.look()
    assert repository.rows() == {"shop/cart.py": ("moved", "b/cart.py")}, "the first look, since the first session"
    repository.move("b/cart.py", "c/cart.py")
    repository.move("shop/old.py", "b/cart.py")  # another one has its name now
    repository.git("rm", "-q", "shop/tax.py")
    repository.write("new.py")
    repository.commit()
    played.at += 1000
    listed = json.loads(run("--moved", "--json", "--project", "shop"))["changes"]
    assert {(one["path"], one["change"], one["name"]) for one in listed} == {
        ("shop/cart.py", "moved", "c/cart.py"), ("b/cart.py", "moved", "c/cart.py"), ("shop/tax.py", "gone", ""),
        ("shop/old.py", "moved", "b/cart.py"), ("new.py", "new", "new.py"),
    }  # fmt: skip
    table = run("--moved", "--project", "shop")
    assert "\tmoved\tshop/cart.py → c/cart.py\n" in table and "\tgone\tshop/tax.py\n" in table
    hot = {one["path"]: one for one in json.loads(run("--json", "--project", "shop"))["files"]}
    assert hot["c/cart.py"]["was"] == ["shop/cart.py"] and hot["c/cart.py"]["people"] == ["Ann"]
    assert hot["shop/tax.py"]["gone"] and not hot["c/cart.py"]["gone"]


def run(*args: str) -> Any:
    result = CliRunner().invoke(nmem, ["hot", *args])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_git_that_fails_leaves_what_was_known(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    played = worked(repository)
    before = played.database().execute("SELECT * FROM checkout_heads").fetchall()
    assert [row[2] for row in before] == [repository.git("rev-parse", "HEAD")] and before[0][3] > START
    repository.move("shop/cart.py", "cart.py")
    repository.commit()
    monkeypatch.setenv("PATH", "")
    repository.look()
    assert played.database().execute("SELECT * FROM checkout_heads").fetchall() == before


def test_a_checkout_that_may_not_be_entered_stops_no_other(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played = worked(repository)
    repository.move("shop/cart.py", "cart.py")
    repository.commit()
    closed = [str(tmp_path / name) for name in ("closed/a", "noexec")]
    (tmp_path / "noexec" / ".git").mkdir(parents=True)

    def refused(root: str | Path) -> bool:
        if str(root).startswith(tuple(closed)):
            raise PermissionError(13, "Permission denied", str(root))
        return False

    for name in ("exists", "is_dir", "is_file"):  # as Python 3.11 does below a folder that may not be entered
        known = getattr(Path, name)
        monkeypatch.setattr(Path, name, lambda path, known=known: refused(path) or known(path))
    monkeypatch.setattr(structure, "run", lambda root, *a, **k: refused(root) or git(root, *a, **k))
    checkouts = structure._checkouts
    monkeypatch.setattr(structure, "_checkouts", lambda *a: [*((1, root, "", 0, 0) for root in closed), *checkouts(*a)])
    repository.look()
    assert repository.rows() == {"shop/cart.py": ("moved", "cart.py")}
    for root in closed:
        db = played.database()
        db.execute("UPDATE projects SET root = ?", (root,))
        db.execute("UPDATE project_folders SET root = ?", (root,))
        db.close()
        assert "cart.py" in run("--project", "shop")


def test_what_is_half_alike_has_not_moved_and_another_branch_deletes_nothing(repository: Repository) -> None:
    repository.git("checkout", "-q", "-b", "draft")
    repository.write("shop/draft.py")
    repository.commit()
    played = worked(repository, "shop/draft.py", "shop/tax.py")
    played.at += 3_600_000
    repository.git("checkout", "-q", "main")
    lines = (repository.root / "shop/tax.py").read_text().splitlines(keepends=True)
    repository.git("rm", "-q", "shop/tax.py")
    (repository.root / "shop/levy.py").write_text("".join([*lines[:13], *(f"another line {n}\n" for n in range(7))]))
    commit = repository.commit()
    repository.look()
    told = played.begin("b")
    assert f"`shop/tax.py` is gone since the last session ({commit})." in told and "levy" not in told
    assert "`shop/draft.py` is not on this branch, which changed since the last session." in told
    assert "\tgone\tshop/draft.py" in run("--moved", "--project", "shop")
