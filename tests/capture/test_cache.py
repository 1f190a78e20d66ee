"""A cache is believed only when it is ours alone, whole, and of the expected shape."""

from __future__ import annotations

import marshal
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture import cache, files, paths
from capture.redaction import finders, redact, rules_cache, settings
from nmem.audit import NOTE, OK
from nmem.doctor.checks import storage
from nmem.threads import config as threads_config

KEY = "AK" + "IA" + "Q3ZK7WT2VNX5LRD6"
CONFIG = "[redaction]\npatterns = [{ name = 'ticket', regex = 'TCK-[0-9]{6}' }]\n[threads]\ntimeout_minutes = 45\n"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A process that has read nothing yet; call it to be the next one."""

    def begin() -> None:
        monkeypatch.setattr(rules_cache, "_ready", {})
        monkeypatch.setattr(rules_cache, "_stored", {})
        monkeypatch.setattr(settings, "_loaded", {})
        monkeypatch.setattr(settings, "_recent", [])

    begin()
    return begin


@pytest.fixture
def config(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = own_home / "config.toml"
    file.write_text(CONFIG)
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    return file


def blinded() -> dict[str, object]:
    """Rules that find nothing, as somebody would plant them."""
    nothing = rules_cache.code("(?!)")
    return dict.fromkeys(finders.sources(), nothing)


def as_another_user(monkeypatch: pytest.MonkeyPatch) -> None:
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)


def as_others_writable(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(rules_cache.path()).chmod(0o666)


def as_folder_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(rules_cache.path()).parent.chmod(0o777)


def as_link(monkeypatch: pytest.MonkeyPatch) -> None:
    file = Path(rules_cache.path())
    file.rename(file.with_suffix(".elsewhere"))
    file.symlink_to(file.with_suffix(".elsewhere"))


@pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")
@pytest.mark.parametrize("how", [as_another_user, as_others_writable, as_folder_of_all, as_link])
def test_rules_of_somebody_else_do_not_switch_redaction_off(
    how: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, fresh: Callable[[], None]
) -> None:
    assert cache.write(rules_cache.path(), blinded())
    assert redact(f"key {KEY} here") == f"key {KEY} here", "else the test would prove nothing"
    fresh()
    how(monkeypatch)
    assert KEY not in redact(f"key {KEY} here")


@pytest.mark.skipif(os.name == "nt", reason="modes say nothing there")
def test_nothing_is_written_where_others_could_change_it(own_home: Path) -> None:
    folder = Path(paths.cache(paths.database()))
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert not settings.prepare()
    assert list(folder.iterdir()) == []
    folder.chmod(0o700)
    assert settings.prepare()
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]


DAMAGE: tuple[object, ...] = (
    {},
    [],
    None,
    3,
    ("x",),
    ("f", (1, 2), ([1], [], [], [])),
    ("f", (1, 2), [[], [], [], []]),
    b"\xff",
)


@pytest.mark.parametrize("kept", DAMAGE, ids=repr)
def test_a_damaged_cache_of_settings_is_read_anew(kept: object, config: Path, fresh: Callable[[], None]) -> None:
    for name in ("settings.bin", "threads.bin"):
        assert cache.write(str(Path(paths.cache(paths.database()), name)), kept)
    assert redact("see TCK-123456 now") == "see [REDACTED:ticket] now"
    assert threads_config.load().timeout_minutes == 45
    fresh()
    assert redact("see TCK-123456 now") == "see [REDACTED:ticket] now"
    assert threads_config.load().timeout_minutes == 45


def test_a_right_frame_with_wrong_contents_is_read_anew(config: Path) -> None:
    found = config.stat()
    stamp = (found.st_mtime_ns, found.st_size)
    file = Path(paths.cache(paths.database()), "settings.bin")
    forms: tuple[object, ...] = ((["x"], [], [], []), ([("a", 3)], [], [], []), ([], [[]], [], []), ([], [], []), None)
    for form in forms:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.write_bytes(marshal.dumps((str(config), stamp, form)))  # type: ignore[arg-type]
        settings._loaded.clear()
        settings._recent.clear()
        assert settings.load().patterns == [("ticket", "TCK-[0-9]{6}")]


def test_an_interpreter_whose_code_cannot_be_kept_writes_the_cache_once(
    monkeypatch: pytest.MonkeyPatch, fresh: Callable[[], None]
) -> None:
    written: list[str] = []
    keep = cache.write

    def write(file: str, value: object) -> bool:
        written.append(file)
        return keep(file, value)

    monkeypatch.setattr(rules_cache, "code", lambda source: None)
    monkeypatch.setattr(cache, "write", write)
    text = f"key {KEY} password = 'q8Rt3vLm0Zx7Kp2W' postgres://a:q8Rt3vLm0@h/ bearer q8Rt3vLm0Zx7Kp2Wabc"
    assert KEY not in redact(text)
    fresh()
    assert KEY not in redact(text)
    assert len(written) == 1
    assert not settings.prepare()
    assert [finding.severity for finding in storage.runtime() if finding.check == "rule cache"] == [NOTE]


def test_doctor_asks_what_is_in_the_cache(config: Path) -> None:
    def said() -> list[str]:
        return [finding.severity for finding in storage.runtime() if finding.check == "rule cache"]

    assert settings.prepare()
    assert said() == [OK]
    assert cache.write(rules_cache.path(), {"x": None})
    assert said() == [NOTE]


def test_an_upgrade_leaves_the_old_rules_behind(fresh: Callable[[], None]) -> None:
    one, *rest = finders.sources()
    assert settings.prepare()
    known = cache.read(rules_cache.path(), dict)
    assert isinstance(known, dict)
    older = {source: known[source] for source in rest} | {f"old-{n}": None for n in range(50)}
    assert cache.write(rules_cache.path(), older)
    fresh()
    assert settings.prepare()
    assert cache.read(rules_cache.path(), dict) == known
    assert one in known


def test_code_that_does_not_load_is_written_anew(fresh: Callable[[], None]) -> None:
    assert settings.prepare()
    good = cache.read(rules_cache.path(), dict)
    assert isinstance(good, dict)
    assert cache.write(rules_cache.path(), {source: (0, 0, {}, (), b"junk") for source in good})
    fresh()
    assert KEY not in redact(f"key {KEY} here")
    fresh()
    rules_cache.pattern(next(iter(good)))
    assert KEY not in redact(f"key {KEY} here")


def test_the_log_of_a_broken_config_is_private_dated_and_holds_none_of_its_patterns(config: Path) -> None:
    config.write_text(
        "[redaction]\npatterns = [{ name = 'a', regex = 'hush-hush(' }, { name = 'b', regex = '(?P=hush)' }]\n"
    )
    log = Path(paths.log(paths.database()))
    assert len(settings.problems()) == 2
    lines = log.read_text().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("20") and "config: " in line and "hush" not in line for line in lines)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="no such links here")
def test_the_log_follows_no_link(config: Path, tmp_path: Path) -> None:
    log = Path(paths.log(paths.database()))
    log.parent.mkdir(parents=True)
    log.symlink_to(tmp_path / "precious")
    config.write_text("[redaction\n")
    assert settings.problems()
    assert not (tmp_path / "precious").exists()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
)


@given(value=values)
def test_only_what_has_the_shape_fits(value: object) -> None:
    assert cache.fits(value, (str, [int])) == (
        type(value) is tuple
        and len(value) == 2
        and type(value[0]) is str
        and type(value[1]) is list
        and all(type(item) is int for item in value[1])
    )
    assert cache.fits(value, type(value))


def test_a_file_is_replaced_whole_or_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    write = os.write

    def full(handle: int, data: bytes) -> int:
        if len(data) < 50:
            raise OSError(28, "no space")
        return write(handle, data[:20])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="no space"):
        files.replace(str(file), b"x" * 100)
    assert file.read_bytes() == b"old"
    assert sorted(left.name for left in tmp_path.iterdir()) == ["file", "home"]
    monkeypatch.setattr(os, "write", lambda handle, data: write(handle, data[:7]))
    files.replace(str(file), b"y" * 100)
    assert file.read_bytes() == b"y" * 100
