"""Which project a folder belongs to."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from capture.event import Project
from capture.project import normalise, resolve


def checkout(root: Path, url: str = "", head: str = "ref: refs/heads/main\n") -> Path:
    git = root / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text(head)
    (git / "config").write_text(
        "[core]\n\tbare = false\n" + (f'[remote "other"]\n\turl = x\n[remote "origin"]\n\turl = {url}\n' if url else "")
    )
    return root


def worktree(main: Path, root: Path, name: str, head: str) -> Path:
    own = main / ".git" / "worktrees" / name
    own.mkdir(parents=True)
    (own / "commondir").write_text("../..\n")
    (own / "HEAD").write_text(head)
    root.mkdir(parents=True)
    (root / ".git").write_text(f"gitdir: {own}\n")
    return root


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://github.com/Team/Work.git", "github.com/Team/Work"),
        ("https://user:ghp_abc@GitHub.com/Team/Work", "github.com/Team/Work"),
        ("git@github.com:Team/Work.git", "github.com/Team/Work"),
        ("ssh://git@github.com:22/Team/Work.git/", "github.com/Team/Work"),
        ("git://example.org/deep/er/work?x=1#y", "example.org/deep/er/work"),
        ("https://oauth2:tok%40en@git.example.org:8443/a/b.git", "git.example.org/a/b"),
        ("/srv/git/work.git", "/srv/git/work"),
        ("file:///srv/git/work.git", "/srv/git/work"),
        ("../work", "../work"),
        ("C:\\git\\work", "C:\\git\\work"),
    ],
)
def test_all_spellings_of_a_remote_are_one(url: str, key: str) -> None:
    assert normalise(url) == key


def test_clones_of_one_remote_are_one_project(tmp_path: Path) -> None:
    one = resolve(str(checkout(tmp_path / "one", "https://tok@example.org/team/work.git")))
    two = resolve(str(checkout(tmp_path / "two", "git@example.org:team/work")))
    assert one.key == two.key == "example.org/team/work"
    assert (one.name, one.remote, one.branch) == ("work", "example.org/team/work", "main")
    assert one.root != two.root


def test_a_folder_deep_inside_belongs_to_its_checkout(tmp_path: Path) -> None:
    root = checkout(tmp_path / "work")
    deep = root / "src" / "deep"
    deep.mkdir(parents=True)
    found = resolve(str(deep))
    assert (found.key, found.root, found.name) == (str(root), str(root), "work")


def test_a_worktree_belongs_to_its_main_checkout_but_has_its_own_root(tmp_path: Path) -> None:
    main = checkout(tmp_path / "work")
    tree = worktree(main, tmp_path / "trees" / "fix", "fix", "ref: refs/heads/fix/parser\n")
    found = resolve(str(tree))
    assert (found.key, found.name, found.root, found.branch) == (str(main), "work", str(tree), "fix/parser")


def test_a_worktree_inside_the_project_counts_when_the_session_is_there(tmp_path: Path) -> None:
    main = checkout(tmp_path / "work")
    tree = worktree(main, main / ".trees" / "fix", "fix", "ref: refs/heads/fix\n")
    assert resolve(str(tree), str(main)).root == str(tree)
    assert resolve(str(main), str(main)).root == str(main)


def test_a_session_that_wanders_off_stays_with_its_project(tmp_path: Path) -> None:
    main, other = checkout(tmp_path / "work"), checkout(tmp_path / "other")
    assert resolve(str(other), str(main)).key == str(main)
    assert resolve(str(tmp_path), str(main)).key == str(main)


def test_a_detached_head_is_named_by_its_hash(tmp_path: Path) -> None:
    assert resolve(str(checkout(tmp_path / "work", head="0123456789abcdef0123\n"))).branch == "0123456789ab"


def test_a_submodule_is_a_project_of_its_own(tmp_path: Path) -> None:
    main = checkout(tmp_path / "work", "https://example.org/team/work")
    inner = main / "libs" / "part"
    inner.mkdir(parents=True)
    module = main / ".git" / "modules" / "part"
    module.mkdir(parents=True)
    (module / "HEAD").write_text("ref: refs/heads/main\n")
    (module / "config").write_text('[remote "origin"]\n\turl = https://example.org/team/part.git\n')
    (inner / ".git").write_text("gitdir: ../../.git/modules/part\n")
    found = resolve(str(inner))
    assert (found.key, found.root) == ("example.org/team/part", str(inner))


def test_without_git_the_folder_is_the_project(tmp_path: Path) -> None:
    plain = tmp_path / "notes"
    plain.mkdir()
    assert (resolve(str(plain)).key, resolve(str(plain)).name) == (str(plain), "notes")
    assert resolve(str(plain / "deep"), str(plain)).key == str(plain)
    assert resolve("", str(plain)).key == str(plain)


def test_home_and_the_root_have_names(own_home: Path) -> None:
    assert resolve(str(own_home)).name == "home"
    assert resolve("/").name == "/"
    assert resolve("").key == "/"


def test_dotfiles_under_git_do_not_swallow_every_folder_at_home(own_home: Path) -> None:
    checkout(own_home, "https://example.org/me/dotfiles")
    plain = own_home / "notes"
    plain.mkdir()
    assert resolve(str(plain)).key == str(plain)
    assert resolve(str(own_home)).key == "example.org/me/dotfiles"


@pytest.mark.parametrize("content", [b"", b"gitdir: /none/such", b"\xff\xfe\x00", b"gitdir:"])
def test_a_broken_git_file_is_no_checkout(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".git").write_bytes(content)
    found = resolve(str(tmp_path))
    assert found.root == str(tmp_path)


def test_a_deleted_folder_is_still_a_project(tmp_path: Path) -> None:
    assert resolve(str(tmp_path / "gone")).name == "gone"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no FIFOs")
@pytest.mark.parametrize("name", [".git", ".git/HEAD", ".git/config", ".git/commondir"])
def test_a_fifo_where_git_keeps_a_file_is_not_waited_for(tmp_path: Path, name: str) -> None:
    if name != ".git":
        (tmp_path / ".git").mkdir()
        (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main")
    (tmp_path / name).unlink(missing_ok=True)
    os.mkfifo(tmp_path / name)
    found: list[Project] = []
    thread = threading.Thread(target=lambda: found.append(resolve(str(tmp_path))), daemon=True)
    thread.start()
    thread.join(20)
    assert [one.root for one in found] == [str(tmp_path)]
