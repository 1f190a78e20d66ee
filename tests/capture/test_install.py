"""Hooks in and out of settings: the user's own words stay theirs, and what nmem wrote goes to the byte."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capture import install
from capture.clients import CLIENTS
from capture.install import SettingsError, atomic, hook_entries, installed, registered, targets
from capture.install.targets import Target
from nmem.commands.uninstall import places

BOM = b"\xef\xbb\xbf"
OWN_HOOKS = b"""{
    "model": "opus",
    "env": {"TOKEN": "caf\\u00e9"},
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "say 'done }{'"}]}
        ],
        "PermissionRequest": []
    },
    "permissions": {"allow": []}
}
"""


def put(target: Target, db: str, pinned: str = "") -> bytes:
    """Install, and return what the file holds then."""
    install.install(install.plan_install(target, db, pinned), db)
    return Path(target.path).read_bytes()


def take(target: Target, db: str) -> None:
    install.uninstall(install.plan_uninstall(target, db), db)


def target_of(client: str, home: Path, content: bytes | None = None) -> Target:
    target = targets.target(client, targets.USER, str(home))
    if content is not None:
        Path(target.path).parent.mkdir(parents=True, exist_ok=True)
        Path(target.path).write_bytes(content)
    return target


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def value(target: Target) -> Any:
    return json.loads(Path(target.path).read_bytes().removeprefix(BOM))


ORIGINALS = {
    "empty object": b"{}",
    "own hooks": OWN_HOOKS,
    "crlf": OWN_HOOKS.replace(b"\n", b"\r\n"),
    "bom": BOM + OWN_HOOKS,
    "tabs, no last newline": b'{\n\t"a": [1,\n\t\t2]\n}',
    "one line": b'{"a":1,"hooks":{"Stop":[]}}',
    "empty hooks": b'{ "hooks": { }\n}\n',
    "nothing in it": b"",
    "only space": b"\n\n",
}


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "opencode"])
@pytest.mark.parametrize("name", ORIGINALS)
def test_uninstall_gives_back_every_byte(client: str, name: str, own_home: Path, db_path: str) -> None:
    target = target_of(client, own_home, ORIGINALS[name])
    Path(target.path).chmod(0o640)
    put(target, db_path)
    assert len(hook_entries.entries(install.text_of(Path(target.path).read_bytes()), target)) == len(
        hook_entries.events(client)
    )
    assert stat.S_IMODE(Path(target.path).stat().st_mode) == 0o640
    take(target, db_path)
    assert Path(target.path).read_bytes() == ORIGINALS[name]
    assert stat.S_IMODE(Path(target.path).stat().st_mode) == 0o640
    assert names(Path(target.path).parent) == [Path(target.path).name]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_file_that_init_made_goes_with_its_folders(client: str, own_home: Path, db_path: str) -> None:
    target = target_of(client, own_home)
    put(target, db_path)
    take(target, db_path)
    assert names(own_home) == ["data"]
    assert names(Path(installed.folder(db_path))) == []


@pytest.mark.parametrize("client", CLIENTS)
def test_a_second_init_changes_nothing(client: str, own_home: Path, db_path: str) -> None:
    target = target_of(client, own_home, None if client == "opencode" else OWN_HOOKS)
    first = put(target, db_path)
    plan = install.plan_install(target, db_path)
    assert not plan.changes
    assert put(target, db_path) == first


def test_the_users_own_hooks_and_order_stay(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    text = put(target, db_path).decode()
    for line in OWN_HOOKS.decode().splitlines():
        if "PermissionRequest" not in line:
            assert line.rstrip(",") in text
    after = value(target)
    assert list(after) == ["model", "env", "hooks", "permissions"]
    assert after["hooks"]["Stop"][0]["hooks"][0]["command"] == "say 'done }{'"
    assert len(after["hooks"]["Stop"]) == 2
    assert after["hooks"]["PermissionRequest"] == []


def test_what_claude_code_is_told(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home)
    put(target, db_path)
    hooks = value(target)["hooks"]
    assert set(hooks) == {
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStop", "Stop",
        "StopFailure", "Notification", "PreCompact", "PostCompact", "SessionEnd",
    }  # fmt: skip
    entry = str(Path(registered.__file__).parents[2] / "nmem" / "entry.py")
    assert hooks["PostToolUse"] == [
        {
            "matcher": "*",
            "hooks": [
                {
                    "type": "command",
                    "command": registered.guarded(
                        [registered.interpreter(), "-I", "-S", entry, "claude", "PostToolUse"]
                    ),
                    "timeout": 20,
                    "async": True,
                }
            ],
        }
    ]
    assert "async" not in hooks["SessionStart"][0]["hooks"][0]


def test_gemini_counts_in_milliseconds_and_keeps_comments(own_home: Path, db_path: str) -> None:
    text = b'{\n  // my theme\n  "ui": {"theme": "Ayu"}, /* end */\n}\n'
    target = target_of("gemini", own_home, text)
    after = put(target, db_path)
    assert b"// my theme" in after and b"/* end */" in after
    entries = hook_entries.entries(after.decode(), target)
    assert [entry.value["timeout"] for entry in entries if entry.event == "SessionStart"] == [8000]
    take(target, db_path)
    assert Path(target.path).read_bytes() == text


def test_copilot_is_told_for_both_shells_and_cursor_flatly(own_home: Path, db_path: str) -> None:
    copilot, cursor = target_of("copilot", own_home), target_of("cursor", own_home)
    put(copilot, db_path)
    put(cursor, db_path)
    handler = value(copilot)["hooks"]["postToolUse"][0]
    assert value(copilot)["version"] == 1
    assert handler["type"] == "command" and handler["timeoutSec"] == 5
    assert " { & '" in handler["powershell"] and handler["bash"].endswith("copilot postToolUse || exit 0")
    assert value(cursor)["version"] == 1
    assert set(value(cursor)["hooks"]["stop"][0]) == {"command", "timeout"}


def test_a_pinned_database_stands_in_the_command(own_home: Path, db_path: str) -> None:
    target = target_of("codex", own_home)
    put(target, db_path, "/data/my memory/it's.db")
    entries = hook_entries.entries(install.text_of(Path(target.path).read_bytes()), target)
    assert {entry.command.db for entry in entries} == {"/data/my memory/it's.db"}


def test_an_upgrade_brings_the_entries_up_to_date_in_place(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    text = put(target, db_path).decode()
    old = text.replace(registered.interpreter(), "/old venv/bin/python").replace(
        registered.entry(), "/old/lib/capture/entry.py"
    ).replace('"timeout": 20', '"statusMessage": "mine",\n                        "timeout": 7')  # fmt: skip
    Path(target.path).write_text(old)
    after = put(target, db_path).decode()
    assert "/old" not in after
    assert len(hook_entries.entries(after, target)) == 12
    assert after.replace('"statusMessage": "mine",\n                        ', "") == text
    take(target, db_path)
    assert Path(target.path).read_bytes() == OWN_HOOKS


def test_events_that_nmem_no_longer_wants_and_copies_go(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    put(target, db_path)
    settings = value(target)
    settings["hooks"]["PermissionRequest"] = [
        {"hooks": [{"type": "command", "command": _ours("claude", "PermissionRequest")}]}
    ]
    settings["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": _ours("claude", "Stop")}]})
    Path(target.path).write_text(json.dumps(settings))
    put(target, db_path)
    assert "PermissionRequest" not in value(target)["hooks"] or value(target)["hooks"]["PermissionRequest"] == []
    assert len(value(target)["hooks"]["Stop"]) == 2


def _ours(client: str, event: str) -> str:
    return f"/x/bin/python -I -S '/a b/capture/entry.py' {client} {event}"


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s | {"theme": "new"},
        lambda s: {"first": 1} | s,
        lambda s: s | {"hooks": s["hooks"] | {"Notification": [{"hooks": [{"type": "command", "command": "bell"}]}]}},
        lambda s: (
            s
            | {"hooks": s["hooks"] | {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}, *s["hooks"]["Stop"]]}}
        ),
    ],
)
def test_edits_of_the_user_after_init_survive_uninstall(edit: Any, own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    put(target, db_path)
    Path(target.path).write_text(json.dumps(edit(value(target)), indent=4))
    take(target, db_path)
    assert value(target) == edit(json.loads(OWN_HOOKS))


def test_an_edit_then_a_second_init_then_uninstall_keeps_the_edit(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    text = put(target, db_path).decode()
    Path(target.path).write_text(
        text.replace('"model": "opus"', '"model": "haiku"').replace('"timeout": 8', '"timeout": 9')
    )
    put(target, db_path)
    take(target, db_path)
    assert Path(target.path).read_bytes() == OWN_HOOKS.replace(b"opus", b"haiku")


def test_a_file_that_init_made_and_the_user_filled_stays(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home)
    put(target, db_path)
    Path(target.path).write_text(json.dumps(value(target) | {"model": "opus"}))
    take(target, db_path)
    assert value(target) == {"model": "opus"}


def test_a_hook_that_the_user_put_into_our_group_stays(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home)
    put(target, db_path)
    settings = value(target)
    settings["hooks"]["PostToolUse"][0]["hooks"].append({"type": "command", "command": "mine"})
    settings["hooks"]["PostToolUse"][0]["matcher"] = "Edit"
    Path(target.path).write_text(json.dumps(settings))
    put(target, db_path)
    assert value(target)["hooks"]["PostToolUse"][0]["matcher"] == "Edit"
    take(target, db_path)
    assert value(target) == {
        "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "mine"}]}]}
    }


def test_without_its_record_uninstall_still_takes_only_ours(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    put(target, db_path)
    installed.forget(db_path, target.path)
    take(target, db_path)
    assert json.loads(Path(target.path).read_bytes())["hooks"]["Stop"] == json.loads(OWN_HOOKS)["hooks"]["Stop"]
    assert b"entry.py" not in Path(target.path).read_bytes()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1,}', "line 1, column 8"),
        (b'{\n // c\n "a": 1}', "line 2, column 2"),
        (b"[1]", "is not an object"),
        (b'{"hooks": []}', "hooks is not an object"),
        (b'{"hooks": {"Stop": "x"}}', r"hooks\.Stop is not a list"),
        (b'{"a": "\xff"}', "not UTF-8"),
        ("{}".encode("utf-16"), "not UTF-8"),
    ],
)
def test_settings_that_cannot_be_read_are_left_alone(content: bytes, said: str, own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, content)
    with pytest.raises(SettingsError, match=said) as error:
        install.plan_install(target, db_path)
    assert "\n" not in str(error.value)
    assert Path(target.path).read_bytes() == content


def test_a_symbolic_link_stays_one(own_home: Path, db_path: str) -> None:
    real = own_home / "dotfiles" / "claude settings.json"
    real.parent.mkdir()
    real.write_bytes(OWN_HOOKS)
    target = target_of("claude", own_home)
    Path(target.path).parent.mkdir()
    Path(target.path).symlink_to(real)
    put(target, db_path)
    assert Path(target.path).is_symlink() and b"entry.py" in real.read_bytes()
    take(target, db_path)
    assert Path(target.path).is_symlink() and real.read_bytes() == OWN_HOOKS


def test_a_file_that_changes_under_our_hands_is_not_overwritten(own_home: Path, db_path: str) -> None:
    target = target_of("claude", own_home, OWN_HOOKS)
    plan = install.plan_install(target, db_path)
    Path(target.path).write_bytes(b'{"theirs": 1}')
    with pytest.raises(SettingsError, match="changed in the meantime"):
        install.install(plan, db_path)
    assert Path(target.path).read_bytes() == b'{"theirs": 1}'
    assert names(Path(target.path).parent) == ["settings.json"]


def test_the_copy_of_the_original_is_private_and_whole(own_home: Path, db_path: str) -> None:
    put(target_of("claude", own_home, OWN_HOOKS), db_path)
    copies = list(Path(installed.folder(db_path)).glob("*.original"))
    assert [copy.read_bytes() for copy in copies] == [OWN_HOOKS]
    assert stat.S_IMODE(copies[0].stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(installed.folder(db_path)).stat().st_mode) == 0o700


def test_the_write_is_all_or_nothing(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = own_home / "settings.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        atomic.replace(str(path), b"new", b"old")
    assert path.read_bytes() == b"old"
    assert names(own_home) == ["settings.json"]


def test_folders_of_the_clients_are_honoured(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(own_home / "c c"))
    monkeypatch.setenv("CODEX_HOME", str(own_home / "x"))
    assert targets.target("claude", "user", "/p").path == str(own_home / "c c" / "settings.json")
    assert targets.target("codex", "user", "/p").path == str(own_home / "x" / "hooks.json")
    assert targets.target("claude", "project", "/p").path == str(Path("/p/.claude/settings.json"))
    assert targets.target("claude", "local", "/p").path == str(Path("/p/.claude/settings.local.json"))
    with pytest.raises(targets.NoSuchScope, match="Codex has no local settings"):
        targets.target("codex", "local", "/p")


def test_the_plugin_file_of_somebody_else_is_left_alone(own_home: Path, db_path: str) -> None:
    target = target_of("opencode", own_home, b"export const Mine = 1\n")
    with pytest.raises(SettingsError, match=r"not nmem's"):
        install.plan_install(target, db_path)
    take(target, db_path)
    assert Path(target.path).read_bytes() == b"export const Mine = 1\n"


LEAF = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8))
JSON = st.recursive(
    LEAF, lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=5), x, max_size=3), max_leaves=8
)
HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": st.text(max_size=20)})
GROUP = st.fixed_dictionaries({"matcher": st.text(max_size=4), "hooks": st.lists(HANDLER, max_size=2)})
HOOKS = st.dictionaries(st.sampled_from(["Stop", "PostToolUse", "SessionStart", "Other"]), st.lists(GROUP, max_size=2))
SETTINGS = st.builds(
    lambda rest, hooks: rest if hooks is None else rest | {"hooks": hooks},
    st.dictionaries(st.text(max_size=5).filter(lambda key: key != "hooks"), JSON, max_size=3),
    st.none() | HOOKS,
)


@given(SETTINGS, st.sampled_from([None, 2, "\t"]), st.booleans(), st.sampled_from(["claude", "codex", "droid"]))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_settings_say_they_come_back(
    own_home: Path, db_path: str, value: Any, indent: Any, crlf: bool, client: str
) -> None:
    text = json.dumps(value, indent=indent).replace("\n", "\r\n" if crlf else "\n").encode()
    target = target_of(client, own_home, text)
    after = json.loads(put(target, db_path))
    ours = hook_entries.entries(json.dumps(after), target)
    assert len(ours) == len(hook_entries.events(client))
    assert {key: item for key, item in after.items() if key != "hooks"} == {
        k: v for k, v in value.items() if k != "hooks"
    }
    for event, groups in value.get("hooks", {}).items():
        assert after["hooks"][event][: len(groups)] == groups

    # the user changes something elsewhere: now only nmem's entries may go, character by character
    plan = install.plan_uninstall(target, db_path)
    assert plan.after == text
    Path(target.path).write_bytes(b" " + Path(target.path).read_bytes())
    take(target, db_path)
    assert Path(target.path).read_bytes() == b" " + text


def everything_in(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


@pytest.mark.parametrize("earlier", [False, True])
@pytest.mark.parametrize("client", ["claude", "gemini", "codex"])
def test_uninstalling_in_a_copied_home_leaves_the_original_alone(
    client: str, earlier: bool, own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    db = str(own_home / "data" / "nmem.db")
    first = target_of(client, own_home, OWN_HOOKS)
    put(first, db)
    put(targets.target(client, targets.PROJECT, str(project)), db)
    if earlier:  # a release that did not record the home
        for file in Path(installed.folder(db)).glob("*.json"):
            file.write_text(json.dumps({key: of for key, of in json.loads(file.read_text()).items() if key != "home"}))
    copy = tmp_path / "copy"
    shutil.copytree(own_home, copy)
    before, project_before = everything_in(own_home), everything_in(project)
    monkeypatch.setenv("HOME", str(copy))
    monkeypatch.chdir(copy)
    db = str(copy / "data" / "nmem.db")
    monkeypatch.setenv("NMEM_DB", db)
    found = places((client,), targets.SCOPES, str(copy), db)
    assert not [one.path for one in found if one.path.startswith(str(own_home) + "/")]
    assert not [one.path for one in found if one.path.startswith(str(project))]
    for one in found:
        take(one, db)
    assert everything_in(own_home) == before
    assert everything_in(project) == project_before
    at = Path(first.path).relative_to(own_home)
    assert b"nmem" not in (copy / at).read_bytes()
    if not earlier:
        assert (copy / at).read_bytes() == OWN_HOOKS
        assert not [one.path for one in installed.everything(db) if one.scope == targets.USER]


def test_a_home_that_moved_takes_its_records_along(
    own_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = target_of("claude", own_home)
    put(target, str(own_home / "data" / "nmem.db"))
    own_home.rename(tmp_path / "moved")
    monkeypatch.setenv("HOME", str(tmp_path / "moved"))
    db = str(tmp_path / "moved" / "data" / "nmem.db")
    take(target_of("claude", tmp_path / "moved"), db)
    assert not (tmp_path / "moved" / ".claude").exists(), "the folder that init made goes as well"
    assert names(tmp_path / "moved" / "data" / "installed") == []
