"""The user's own patterns and allow-list; a broken config is reported and never switches redaction off."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capture import paths
from capture.redaction import redact, rules_cache, settings

GOOD = """
[redaction]
patterns = [{ name = "ticket", regex = "TCK-[0-9]{6}" }, { name = "inner", regex = "door code (\\\\d+)" }]
allow = ["kq7Zt9wPx2mVb", { regex = "demo-[a-z0-9]+" }]
"""
SECRET = "password = '" + "q8Rt3vLm0" + "Zx7Kp2W'"


@pytest.fixture
def config(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = own_home / "config.toml"
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    monkeypatch.setattr(settings, "RECHECK", 0.0)
    return file


def write(file: Path, text: str, age: int = 0) -> None:
    file.write_text(text)
    os.utime(file, ns=(10**18 + age, 10**18 + age))


def test_patterns_and_allow_list(config: Path) -> None:
    write(config, GOOD)
    assert redact("see TCK-123456 now") == "see [REDACTED:ticket] now"
    assert redact("the door code 4711 works") == "the door code [REDACTED:inner] works"
    assert redact("password = 'kq7Zt9wPx2mVb'") == "password = 'kq7Zt9wPx2mVb'"
    assert redact("password = 'demo-kq7zt9wpx2'") == "password = 'demo-kq7zt9wpx2'"
    assert redact(SECRET) == "password = '[REDACTED:password]'"
    assert settings.problems() == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[redaction\n", "config.toml"),
        ("[redaction]\npatterns = 3\n", "redaction.patterns is not a list"),
        ("[redaction]\npatterns = [{ name = 'a', regex = '(' }]\n", "not a regular expression"),
        ("[redaction]\npatterns = [{ name = 'a', regex = 'x*' }]\n", "matches the empty text"),
        ("[redaction]\npatterns = [{ name = 'A B', regex = 'x' }]\n", "needs a name"),
        ("[redaction]\nallow = [{}]\n", "needs a regex"),
        ("[redaction]\nalow = []\n", "redaction.alow is not known"),
        ("redaction = 3\n", "not a table"),
    ],
)
def test_a_broken_config_is_reported_and_disables_nothing(config: Path, text: str, said: str) -> None:
    write(config, text)
    assert redact(SECRET) == "password = '[REDACTED:password]'"
    assert any(said in line for line in settings.problems())
    assert said in Path(paths.log(paths.database())).read_text()


def test_a_config_that_breaks_keeps_the_last_good_patterns(config: Path) -> None:
    write(config, GOOD)
    assert "TCK" not in redact("see TCK-123456 now")
    write(config, "[redaction", age=1)
    assert "TCK" not in redact("see TCK-123456 now")
    assert settings.problems()
    write(config, GOOD, age=2)
    assert settings.problems() == []


def test_one_bad_pattern_does_not_take_the_others_along(config: Path) -> None:
    write(config, "[redaction]\npatterns = [{name='bad', regex='('}, {name='good', regex='TCK-[0-9]+'}]\n")
    assert redact("see TCK-1 now") == "see [REDACTED:good] now"


def test_a_hook_imports_neither_re_nor_tomllib_once_the_cache_is_there(config: Path) -> None:
    write(config, GOOD)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from capture.redaction import redact\n"
        "out = redact(sys.argv[2])\n"
        "print(out); print(sorted({'re', 'tomllib', 'json', 'enum', 'typing'} & set(sys.modules)))"
    )
    root = str(Path(paths.__file__).parents[1])
    text = SECRET + " TCK-123456 postgres://a:q8Rt3vLm0@h/ bearer q8Rt3vLm0Zx7Kp2Wabc"
    words = [sys.executable, "-I", "-S", "-c", code, root, text]
    env = {**os.environ, "NMEM_CONFIG": str(config)}
    first, second = (subprocess.run(words, capture_output=True, text=True, env=env, check=True) for _ in range(2))
    assert first.stdout.splitlines()[0] == second.stdout.splitlines()[0] == redact(text)
    assert second.stdout.splitlines()[1] == "[]"


@pytest.mark.parametrize("damage", [b"", b"no marshal", b"\xff" * 4000, b"cut"])
def test_a_damaged_cache_is_no_matter(damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings.prepare()
    file = Path(rules_cache.path())
    file.write_bytes(file.read_bytes()[:2000] if damage == b"cut" else damage)
    monkeypatch.setattr(rules_cache, "_ready", {})
    monkeypatch.setattr(rules_cache, "_stored", {})
    assert redact(SECRET) == "password = '[REDACTED:password]'"
    assert file.stat().st_size > 10_000


def test_without_a_place_for_the_cache_it_works_as_well(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NMEM_DB", str(tmp_path / "file" / "nmem.db"))
    monkeypatch.setattr(rules_cache, "_ready", {})
    assert redact(SECRET) == "password = '[REDACTED:password]'"
    assert not settings.prepare()
