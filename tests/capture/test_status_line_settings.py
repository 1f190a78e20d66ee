"""The status line in Claude Code's settings: wrapped, brought up to date, given back to the byte."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture import install
from capture.install import installed, status_line, targets
from capture.install.status_line import ADD, KEEP, OFF, WRAP
from capture.install.targets import Target

pytestmark = pytest.mark.skipif(os.name == "nt", reason="no line is wrapped on Windows")

OWN = b"""{
\t"model": "opus",
\t"statusLine": { "type":"command", "command":"~/.claude/line.sh --caf\\u00e9 \\"a\\"",   "padding": 0 },
\t"permissions": {}
}"""
COMMAND = '~/.claude/line.sh --café "a"'


def target_of(home: Path, content: bytes | None) -> Target:
    target = targets.target("claude", targets.USER, str(home))
    if content is not None:
        Path(target.path).parent.mkdir(parents=True, exist_ok=True)
        Path(target.path).write_bytes(content)
    return target


def put(target: Target, db: str, choice: str, pinned: str = "") -> dict[str, Any]:
    install.install(install.plan_install(target, db, pinned, choice), db)
    found: dict[str, Any] = json.loads(Path(target.path).read_bytes())
    return found


def take(target: Target, db: str) -> None:
    install.uninstall(install.plan_uninstall(target, db), db)


def own(data: dict[str, Any]) -> str | None:
    found = status_line.recognise(data["statusLine"]["command"])
    assert found is not None
    return found.own


def test_the_own_line_is_wrapped_and_everything_else_stays(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    data = put(target, db_path, WRAP, db_path)
    assert own(data) == COMMAND
    assert data["statusLine"]["padding"] == 0 and data["model"] == "opus" and "hooks" in data
    assert f"--db {db_path}" in data["statusLine"]["command"]
    take(target, db_path)
    assert Path(target.path).read_bytes() == OWN


def test_it_is_given_back_to_the_byte_where_the_rest_of_the_file_changed(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    put(target, db_path, WRAP)
    text = Path(target.path).read_bytes().replace(b'"opus"', b'"sonnet"')
    Path(target.path).write_bytes(text)
    take(target, db_path)
    assert Path(target.path).read_bytes() == OWN.replace(b'"opus"', b'"sonnet"')


def test_it_is_given_back_without_any_record(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    put(target, db_path, WRAP)
    installed.forget(db_path, target.path)
    take(target, db_path)
    assert json.loads(Path(target.path).read_bytes()) == json.loads(OWN)


def test_a_second_time_changes_nothing_and_a_move_is_followed(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    put(target, db_path, WRAP)
    first = Path(target.path).read_bytes()
    assert not install.plan_install(target, db_path, "", WRAP).changes
    Path(target.path).write_bytes(first.replace(status_line.file().encode(), b"/old/place/nmem/statusline.py"))
    data = put(target, db_path, KEEP)
    assert own(data) == COMMAND and "/old/place" not in data["statusLine"]["command"]
    take(target, db_path)
    assert json.loads(Path(target.path).read_bytes()) == json.loads(OWN)


def test_without_a_line_none_appears_unless_it_is_asked_for(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, b'{"model": "opus"}\n')
    assert "statusLine" not in put(target, db_path, WRAP)
    assert "statusLine" not in put(target, db_path, KEEP)
    data = put(target, db_path, ADD)
    assert own(data) is None
    assert own(put(target, db_path, KEEP)) is None
    take(target, db_path)
    assert Path(target.path).read_bytes() == b'{"model": "opus"}\n'


def test_a_refusal_is_kept_until_it_is_taken_back(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    put(target, db_path, WRAP)
    assert put(target, db_path, OFF)["statusLine"]["command"] == COMMAND
    assert b"caf\\u00e9" in Path(target.path).read_bytes()
    for choice in (WRAP, KEEP):
        assert put(target, db_path, choice)["statusLine"]["command"] == COMMAND
    assert own(put(target, db_path, ADD)) == COMMAND


def test_a_refusal_counts_also_where_nothing_had_to_be_written(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN.replace(b"statusLine", b"other"))
    put(target, db_path, WRAP)
    put(target, db_path, OFF)
    text = Path(target.path).read_bytes().replace(b"other", b"statusLine")
    Path(target.path).write_bytes(text)
    assert put(target, db_path, WRAP)["statusLine"]["command"] == COMMAND


def test_bringing_hooks_up_to_date_never_wraps_a_line(own_home: Path, db_path: str) -> None:
    target = target_of(own_home, OWN)
    assert put(target, db_path, KEEP)["statusLine"]["command"] == COMMAND


@pytest.mark.parametrize(
    "value",
    ['"text"', "null", "[]", '{"type": "static", "text": "x"}', '{"type": "command"}',
     '{"type": "command", "command": 3}', '{"type": "command", "command": " "}'],
)  # fmt: skip
def test_what_is_no_command_is_left_alone(value: str, own_home: Path, db_path: str) -> None:
    content = f'{{"statusLine": {value}}}'.encode()
    target = target_of(own_home, content)
    assert put(target, db_path, WRAP)["statusLine"] == json.loads(value)
    take(target, db_path)
    assert Path(target.path).read_bytes() == content


def test_other_clients_have_no_status_line(own_home: Path, db_path: str) -> None:
    target = targets.target("gemini", targets.USER, str(own_home))
    Path(target.path).parent.mkdir(parents=True)
    Path(target.path).write_bytes(OWN)
    install.install(install.plan_install(target, db_path, "", ADD), db_path)
    assert json.loads(Path(target.path).read_bytes())["statusLine"]["command"] == COMMAND


@given(st.text(min_size=1, max_size=40).filter(lambda text: text.strip() and "\x00" not in text), st.booleans())
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_line_comes_back_to_the_byte(own_home: Path, db_path: str, command: str, ascii_only: bool) -> None:
    try:
        command.encode()
    except UnicodeEncodeError:
        return
    given_ = json.dumps({"statusLine": {"type": "command", "command": command}}, ensure_ascii=ascii_only).encode()
    target = target_of(own_home, given_)
    assert own(put(target, db_path, WRAP)) == command
    Path(target.path).write_bytes(Path(target.path).read_bytes() + b"\n")  # the record's copy is of no use any more
    take(target, db_path)
    assert Path(target.path).read_bytes() == given_ + b"\n"
