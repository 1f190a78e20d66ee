"""What leaves says no secret and no home, and names files as the project does."""

from __future__ import annotations

import pytest

from nmem.share import Outward
from tests.nmem.share.conftest import KEY, PASSWORD, ROOT, TOKEN


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (f"{ROOT}/src/a.py", "src/a.py"),
        (f"cd {ROOT} && make", "cd . && make"),
        (f"{ROOT}-old/a.py", "~/src/shop-old/a.py"),
        (f"vim file://{ROOT}/a.py", "vim file://a.py"),
        ("ls /home/anna", "ls ~"),
        ("cat /home/bert/x /Users/cleo/y", "cat ~/x ~/y"),
        ("gcc -I/home/bert/include", "gcc -I~/include"),
        (r"type C:\Users\dora\x.txt", r"type ~\x.txt"),
        (r'{"path": "C:\\Users\\dora\\x"}', r'{"path": "~\\x"}'),
        ("ls /mnt/c/Users/dora /c/Users/dora/x", "ls ~ ~/x"),
        ("scp host:/home/bert/x .", "scp host:~/x ."),
        ("docker run -v /root/x:/srv", "docker run -v ~/x:/srv"),
        ("~/.claude/projects/-home-anna-src-shop/1.jsonl", "~/.claude/projects/-~-src-shop/1.jsonl"),
        ("ls /var/home/bert/x /usr/home/bert /mnt/disk1/home/bert/x", "ls ~/x ~ ~/x"),
        ("ls /System/Volumes/Data/Users/cleo/x /Volumes/Old/Users/cleo/x", "ls ~/x ~/x"),
        ("vscode-remote://wsl+Ubuntu/home/bert/x", "vscode-remote://wsl+Ubuntu~/x"),
        ("vscode-remote://ssh-remote%2Bbox/var/home/bert/x", "vscode-remote://ssh-remote%2Bbox~/x"),
        ("git clone ssh://git@box/home/bert/x.git", "git clone ssh://git@box~/x.git"),
        ("file:///c%3A/Users/dora/x file:///C:/Users/dora/x", "file://~/x file://~/x"),
        (r"dir \\wsl$\Ubuntu\home\bert\x", r"dir \\wsl$\Ubuntu~\x"),
        (r"dir \\box\Users\dora\x //box/Users/dora/x", r"dir \\box~\x //box~/x"),
        ("open '/Users/John Smith/x'", "open '~/x'"),
        (r"open /Users/John\ Smith/x", "open ~/x"),
        (r"type C:\Users\John Smith\x.txt", r"type ~\x.txt"),
        ("cp /home/bert /tmp/x", "cp ~ /tmp/x"),
        ("from /Users/cleo to here", "from ~ to here"),
        ("-var-home-bert-src", "-~-src"),
        ("http://localhost/?file=/home/anna/x", "http://localhost/?file=~/x"),
    ],
)
def test_paths_are_relative_and_no_home_is_shown(written: str, shown: str) -> None:
    assert Outward([ROOT]).text(written) == shown


@pytest.mark.parametrize(
    "text",
    [
        "src/home/index.ts",
        "app/Users/list.go",
        "https://example.org/home/news",
        "./home/x",
        "y/root",
        "GET /api/Users/42",
        "/app/src/home/index.ts",
        "/var/www/home/index.php",
        "/usr/lib/x/home/y",
    ],
)
def test_what_only_looks_like_a_home_stays(text: str) -> None:
    assert Outward([ROOT]).text(text) == text


def test_a_folder_within_the_project_is_not_taken_for_its_root() -> None:
    assert Outward([f"{ROOT}/web", ROOT]).text(f"{ROOT}/web/a.ts") == "web/a.ts"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("D:/posh/src/a.go", "src/a.go"),
        (r'type "D:\posh\website" d:\\posh\\x', r'type "website" x'),
        ("D:/posh/.claude/worktrees/x/src/a.go D:/posh/.worktrees/1/b", "src/a.go b"),
        ("cd /d/posh && ls /mnt/d/posh/src D:/poshest/x D:/x", "cd . && ls src D:/poshest/x D:/x"),
    ],
)
def test_a_checkout_on_a_drive_is_the_project_too(written: str, shown: str) -> None:
    assert Outward([ROOT, "D:/posh", "D:"]).text(written) == shown


def test_the_user_s_own_home_is_hidden_wherever_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/data/people/anna")
    assert Outward([]).text("ls /data/people/anna/x /data/people/annabel") == "ls ~/x /data/people/annabel"


def test_a_secret_is_replaced_where_nothing_says_that_it_is_one() -> None:
    out = Outward([])
    out.learn(f"the password: {PASSWORD} and {TOKEN}")
    assert out.text(f"psql {PASSWORD} -c x") == "psql [REDACTED:password] -c x"
    assert out.text(f"login {TOKEN[:20]}") == "login [REDACTED:github-token]"
    assert out.text(f"it said “{TOKEN[:14]}…” and stopped") == "it said “[REDACTED:github-token]…” and stopped"
    assert out.fresh == 3
    assert out.placeholders == 3


def test_a_text_is_redacted_before_it_is_cut_and_a_placeholder_is_never_cut() -> None:
    out = Outward([])
    assert KEY[:6] not in out.text(f"{'x ' * 20}{KEY} and more", 44)
    assert out.text(f"{'x ' * 20}{TOKEN}", 52) == f"{'x ' * 20}".rstrip() + "…"
    assert out.shortened == 2


def test_nothing_hidden_leaves() -> None:
    assert Outward([]).text("a\x1b[31mb\u202ec\u200bd\x00") == "abcd"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("one_long_name_without_any_blank in it", 22, "one_long_name_without…"),
        ("it takes the tooling of extensions", 30, "it takes the tooling of…"),
        ("see the request (https://example.org/pull/1)", 30, "see the request…"),
    ],
)
def test_a_text_is_cut_at_a_word(text: str, limit: int, shown: str) -> None:
    assert Outward([]).text(text, limit) == shown
