"""Paths are kept relative to the project with forward slashes, whatever they came as."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.extract.relative import relative


@pytest.mark.parametrize(
    ("path", "root", "cwd", "kept"),
    [
        ("/w/p/src/a.py", "/w/p", "/w/p", "src/a.py"),
        ("src/a.py", "/w/p", "/w/p", "src/a.py"),
        ("../a.py", "/w/p", "/w/p/src", "a.py"),
        ("./x/../a.py", "/w/p", "/w/p", "a.py"),
        ("/w/p", "/w/p", "/w/p", "."),
        ("/w/p/", "/w/p/", "/w/p", "."),
        ("/w/p2/a.py", "/w/p", "/w/p", "/w/p2/a.py"),
        ("../../etc/hosts", "/w/p", "/w/p", "/etc/hosts"),
        ("/etc//hosts", "/w/p", "/w/p", "/etc/hosts"),
        ("a.py", "/w/p", "/tmp", "/tmp/a.py"),
        ("a.py", "/w/p", "", "a.py"),
        ("file:///w/p/a.py", "/w/p", "", "a.py"),
        ("file://localhost/w/p/a.py", "/w/p", "", "a.py"),
        ("~ada/a.py", "/w/p", "/w/p/sub", "~ada/a.py"),
        ("a\\b.py", "/w/p", "/w/p", "a\\b.py"),
        ("C:\\w\\p\\src\\a.py", "C:\\w\\p", "C:\\w\\p", "src/a.py"),
        ("c:\\W\\P\\a.py", "C:/w/p", "C:/w/p", "a.py"),
        ("src\\a.py", "C:\\w\\p", "C:\\w\\p", "src/a.py"),
        ("..\\..\\a.py", "C:\\w\\p", "C:\\w\\p", "C:/a.py"),
        ("D:\\x\\a.py", "C:\\w\\p", "C:\\w\\p", "D:/x/a.py"),
        ("/c/w/p/a.py", "C:\\w\\p", "C:\\w\\p", "a.py"),
        ("\\\\server\\share\\a.py", "C:\\w", "C:\\w", "//server/share/a.py"),
        ("/a.py", "/", "/", "/a.py"),
        ("", "/w/p", "/w/p", None),
        ("a\nb", "/w/p", "/w/p", None),
    ],
)
def test_relative(path: str, root: str, cwd: str, kept: str | None) -> None:
    assert relative(path, root, cwd) == kept


def test_home(own_home: Path) -> None:
    assert relative("~/p/a.py", str(own_home / "p")) == "a.py"
    assert relative("~", "/w/p") == str(own_home)


@given(st.text(), st.sampled_from(["/w/p", "C:\\w\\p", "", "/"]), st.sampled_from(["/w/p/x", "C:\\w", "", "x"]))
def test_any_path(path: str, root: str, cwd: str) -> None:
    kept = relative(path, root, cwd)
    assert kept is None or (kept and "\n" not in kept)


@given(st.lists(st.text(alphabet="abc d", min_size=1).filter(str.strip), min_size=1))
def test_a_path_under_the_root_is_its_own_name(parts: list[str]) -> None:
    name = "/".join(part.strip() for part in parts)
    assert relative(f"/w/p/{name}", "/w/p", "/elsewhere") == name
    assert relative("C:\\w\\p\\" + name.replace("/", "\\"), "C:\\w\\p") == name
