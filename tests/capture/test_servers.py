"""The server in a client's settings: what is put in comes out to the byte, and nobody else's is touched."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capture.install import SettingsError, beside, servers, toml_servers
from capture.install.hook_entries import Left
from capture.install.targets import Target

SERVER: servers.Server = {"command": "/v/bin/python", "args": ["-P", "/v/nmem/own_process.py", "m:f", "mcp"]}
OTHER: servers.Server = {**SERVER, "command": "/w/bin/python", "env": {"NMEM_DB": "/d/n.db"}}
FILE = Target("claude", "user", "/h/.claude.json")
SIGNS = st.text(alphabet='ab-_ ."\\é{}[]/*', max_size=6)
NAMES = SIGNS.map(lambda name: f"a{name}")
ENTRIES = st.dictionaries(NAMES, st.fixed_dictionaries({"command": SIGNS}), max_size=3)


@given(
    st.fixed_dictionaries({"a": st.integers()}, optional={"mcpServers": ENTRIES, "z": SIGNS}),
    st.sampled_from([None, 2, "\t"]),
)
def test_json_comes_back_to_the_byte(document: dict[str, Any], indent: int | str | None) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    left: Left = {}
    within = servers.put(text, FILE, SERVER, left)
    assert json.loads(within)["mcpServers"]["nmem"] == SERVER
    assert servers.put(within, FILE, SERVER, left) == within
    moved = servers.put(within, FILE, OTHER, left)
    assert json.loads(moved)["mcpServers"]["nmem"] == OTHER
    assert servers.take_out(within, FILE, left) == text == servers.take_out(moved, FILE, left)


ROWS = ("a = 1", "# a word", "", "[t]", "[mcp_servers.other]", 'command = "x"', "[[rows]]", "b = '[x]'")


@given(st.lists(st.sampled_from(ROWS), max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_toml_comes_back_to_the_byte(rows: list[str], newline: str, ends: bool) -> None:
    text = newline.join(rows) + (newline if ends and rows else "")
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    left: Left = {}
    within = toml_servers.put(text, SERVER, left)
    found = tomllib.loads(within)
    assert found["mcp_servers"].pop("nmem") == SERVER
    assert found == before or not found.pop("mcp_servers", None)
    assert toml_servers.put(within, SERVER, left) == within
    moved = toml_servers.put(within, OTHER, left)
    assert tomllib.loads(moved)["mcp_servers"]["nmem"] == OTHER
    assert toml_servers.take_out(within, left) == text == toml_servers.take_out(moved, left)


def test_what_its_owner_added_stays_through_an_update() -> None:
    mine = {**SERVER, "timeout": 9, "env": {"X": "1", "NMEM_DB": "/old.db"}}
    text = servers.put(json.dumps({"mcpServers": {"nmem": mine}}), FILE, SERVER, {})
    assert json.loads(text)["mcpServers"]["nmem"] == {**SERVER, "timeout": 9, "env": {"X": "1"}}
    written = '[mcp_servers.nmem] # ours\ncommand = "/old/nmem"\nargs = ["mcp"]\nstartup_timeout_sec = 20\n\n[after]\n'
    found = tomllib.loads(toml_servers.put(written, SERVER, {}))
    assert found == {"mcp_servers": {"nmem": {**SERVER, "startup_timeout_sec": 20}}, "after": {}}


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "nmem", "args": ["serve"]},
        {"command": "uvx", "args": ["nmem-other", "mcp"]},
        {"url": "http://x"},
        "odd",
    ],
)
def test_somebody_elses_server_of_the_same_name_is_left_alone(entry: object) -> None:
    text = json.dumps({"mcpServers": {"nmem": entry}})
    with pytest.raises(servers.Foreign):
        servers.put(text, FILE, SERVER, {})
    assert servers.take_out(text, FILE, {}) == text
    assert servers.beside_hooks(text, FILE, SERVER, {}) == text


@pytest.mark.parametrize(
    "entry", [SERVER, {"command": "/x/nmem", "args": ["mcp"]}, {"command": "py", "args": ["-m", "nmem", "mcp"]}]
)
def test_ours_is_known_again_wherever_it_was(entry: object) -> None:
    assert servers.is_ours(entry)


APART = """model = "x"

[mcp_servers.nmem]
command = "/old/nmem"
args = ["mcp"]
startup_timeout_sec = 20

[mcp_servers.nmem.env]  # mine
NMEM_DB = "/old.db"
NO_COLOR = "1"

[mcp_servers.nmem.tools.search]
approval_mode = "approve"

[after]
a = 1
"""


@pytest.mark.parametrize("server", [SERVER, OTHER])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_an_environment_in_a_table_of_its_own_stays_and_goes_with_the_rest(
    server: servers.Server, newline: str
) -> None:
    text = APART.replace("\n", newline)
    within = toml_servers.put(text, server, {})
    env = {"NO_COLOR": "1", **server.get("env", {})}  # type: ignore[dict-item]
    found = tomllib.loads(within)["mcp_servers"]["nmem"]
    assert found == {**server, "env": env, "startup_timeout_sec": 20, "tools": {"search": {"approval_mode": "approve"}}}
    assert toml_servers.put(within, server, {}) == within
    assert "[mcp_servers.nmem.env]  # mine" in within
    out = toml_servers.take_out(within, {})
    assert tomllib.loads(out) == {"model": "x", "after": {"a": 1}}


def test_an_environment_that_was_ours_alone_goes_when_it_is_needed_no_more() -> None:
    text = APART.replace('NO_COLOR = "1"\n', "")
    assert "env" not in tomllib.loads(toml_servers.put(text, SERVER, {}))["mcp_servers"]["nmem"]


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { nmem = { command = "nmem", args = ["mcp"] } }\n',
        '[mcp_servers]\nnmem = { command = "nmem", args = ["mcp"] }\n',
        '[mcp_servers.nmem]\nargs = [\n  "mcp",\n]\ncommand = "nmem"\n',
    ],
)  # fmt: skip
def test_toml_that_is_not_ours_to_take_apart_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="mcp_servers"):
        toml_servers.put(text, SERVER, {})


@pytest.mark.parametrize("client", beside.CLIENTS)
def test_a_file_that_cannot_be_read_is_named_and_left(client: str, tmp_path: Path, db_path: str) -> None:
    for target in beside.targets(client, "project", str(tmp_path)):
        path = Path(target.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\xff{ broken")
        with pytest.raises(SettingsError, match=path.name):
            beside.plan_install(target, db_path, SERVER, "skill")
        assert path.read_bytes() == b"\xff{ broken"


def test_no_copy_is_kept_of_a_clients_own_state(tmp_path: Path, db_path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    state = b'{"oauthAccount": {"emailAddress": "me@example.org"}}'
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    (tmp_path / ".claude.json").write_bytes(state)
    target = beside.targets("claude", "user", "/")[0]
    assert Path(target.path) == tmp_path / ".claude.json"
    plan = beside.plan_install(target, db_path, SERVER, "")
    beside.install(plan, db_path)
    assert b"own_process" in (tmp_path / ".claude.json").read_bytes()
    for file in Path(db_path).parent.rglob("*"):
        assert file.is_dir() or b"example.org" not in file.read_bytes()
    from capture.install import uninstall

    uninstall(beside.plan_uninstall(target, db_path), db_path)
    assert (tmp_path / ".claude.json").read_bytes() == state
