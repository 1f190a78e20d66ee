"""Checks what keeps a client from running registered hooks: switches, policies, missing trust."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tomllib
from pathlib import Path

from capture import files, install
from capture.hook import SKIP
from capture.install import atomic, targets
from capture.install.hook_entries import Entry
from capture.install.settings_file import value_at
from capture.install.targets import Target
from nmem.audit import NOTE, OK, WRONG, Finding
from nmem.doctor import registrations

CHECKS, SETTINGS = ("switch", "trust", "double"), "settings"
"""The names of what is found here, but for a file that cannot be read."""


def every(folder: str) -> list[Finding]:
    """All of them, for `nmem doctor` and the screen Health alike; `folder` is the project whose settings count, too."""
    return [*skipped(), *claude(folder), *codex(folder), *gemini(folder), *shared(folder)]


def _settings(path: str, comments: bool) -> dict[str, object]:
    """A settings file as a dictionary; empty when it is absent or cannot be read (which another check says)."""
    try:
        data = atomic.read(path)
        value = value_at(install.text_of(data), (), comments) if data is not None else None
    except (ValueError, OSError):
        return {}
    return value if isinstance(value, dict) else {}


def _managed() -> list[str]:
    """Where an administrator's settings of Claude Code may lie."""
    if sys.platform == "darwin":
        return ["/Library/Application Support/ClaudeCode/managed-settings.json"]
    if sys.platform == "win32":
        return [
            r"C:\ProgramData\ClaudeCode\managed-settings.json",
            r"C:\Program Files\ClaudeCode\managed-settings.json",
        ]
    return ["/etc/claude-code/managed-settings.json"]


def claude(folder: str) -> list[Finding]:
    """Switches of Claude Code."""
    places = [target.path for target in targets.targets("claude", folder)] + _managed()
    out = []
    for path in places:
        settings = _settings(path, comments=False)
        for key in ("disableAllHooks", "allowManagedHooksOnly", "strictPluginOnlyCustomization"):
            if settings.get(key):
                mend = f"remove {key} from {path}"
                out.append(Finding("switch", WRONG, f"{path} says {key}: no hook of yours runs", mend, "claude"))
    if os.environ.get("CLAUDE_CODE_SIMPLE"):
        said = "CLAUDE_CODE_SIMPLE is set: sessions started from here run no hooks"
        out.append(Finding("switch", WRONG, said, "unset CLAUDE_CODE_SIMPLE", "claude"))
    return out


def gemini(folder: str) -> list[Finding]:
    """Switches of Gemini CLI."""
    out = []
    for target in targets.targets("gemini", folder):
        config = _settings(target.path, comments=True).get("hooksConfig")
        if not isinstance(config, dict):
            continue
        if config.get("enabled") is False:
            said = f"{target.path} says hooksConfig.enabled: false: no hook runs"
            out.append(Finding("switch", WRONG, said, f"remove hooksConfig.enabled from {target.path}", "gemini"))
        disabled = config.get("disabled")
        names = [name for name in disabled if isinstance(name, str)] if isinstance(disabled, list) else []
        if any(name == "nmem" or "nmem/entry.py" in name or "capture/entry.py" in name for name in names):
            said = f"{target.path} names nmem in hooksConfig.disabled"
            out.append(Finding("switch", WRONG, said, "in gemini: /hooks enable nmem", "gemini"))
    return out


def skipped() -> list[Finding]:
    """nmem's own switch."""
    if not os.environ.get(SKIP):
        return []
    return [Finding("switch", WRONG, f"{SKIP} is set: hooks started from here record nothing", f"unset {SKIP}")]


def _snake(event: str) -> str:
    return "".join("_" + char.lower() if char.isupper() else char for char in event).lstrip("_")


def trust_hash(entry: Entry, matcher: object) -> str:
    """What Codex remembers of a hook that was trusted: a hash of its definition as Codex understands it."""
    timeout = entry.value.get("timeout", 600)
    limit = 3 if entry.event in ("SessionEnd", "Interrupt") else 10**9
    handler: dict[str, object] = {
        "async": bool(entry.value.get("async")),
        "command": entry.value.get("command"),
        "timeout": min(timeout, limit) if isinstance(timeout, int) else timeout,
        "type": "command",
    }
    if isinstance(entry.value.get("statusMessage"), str):
        handler["statusMessage"] = entry.value["statusMessage"]
    whole: dict[str, object] = {"event_name": _snake(entry.event), "hooks": [handler]}
    if matcher is not None:
        whole["matcher"] = matcher
    text = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def codex(folder: str) -> list[Finding]:
    """Switches of Codex, and whether each hook is trusted."""
    path = Path(targets.home("codex")) / "config.toml"
    try:
        config = tomllib.loads(files.read(str(path)).decode())
    except FileNotFoundError:
        config = {}
    except (OSError, ValueError) as error:
        return [Finding(SETTINGS, WRONG, f"{path} cannot be read: {error}", "fix the file by hand", "codex")]
    out = []
    features = config.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        said = f"{path} says features.hooks = false: no hook runs"
        out.append(Finding("switch", WRONG, said, "codex features enable hooks", "codex"))
    hooks = config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    for target, entries in registrations.all_of("codex", folder):
        out.append(_trust(target, entries, state if isinstance(state, dict) else {}))
    return out


def _trust(target: Target, entries: list[Entry], state: dict[str, object]) -> Finding:
    untrusted, changed, off = [], [], []
    root = _settings(target.path, comments=False)
    for entry in entries:
        known = _state(target.path, entry, state)
        if not known.get("trusted_hash"):
            untrusted.append(entry.event)
        elif known["trusted_hash"] != trust_hash(entry, _matcher(root, entry)):
            changed.append(entry.event)
        elif known.get("enabled") is False:
            off.append(entry.event)
    mend = "start codex, type /hooks and trust nmem's hooks"
    if untrusted:
        said = f"Codex skips hooks that are not trusted yet: {', '.join(untrusted)}"
        return Finding("trust", WRONG, said, mend, "codex")
    if off:
        return Finding("trust", WRONG, f"switched off in Codex: {', '.join(off)}", mend, "codex")
    if changed:
        said = f"Codex trusted another version of: {', '.join(changed)}; it skips these until they are trusted again"
        return Finding("trust", NOTE, said, mend, "codex")
    return Finding("trust", OK, f"Codex trusts all {len(entries)} hooks", "", "codex")


def _state(path: str, entry: Entry, state: dict[str, object]) -> dict[str, object]:
    """Codex' note on one hook; its key is the file, the event and the position in it."""
    position = f"{_snake(entry.event)}:{entry.path[2]}:{entry.path[4]}"
    for place in (path, os.path.realpath(path)):
        found = state.get(f"{place}:{position}")
        if isinstance(found, dict):
            return found
    return {}


def _matcher(root: dict[str, object], entry: Entry) -> object:
    hooks = root.get("hooks")
    groups = hooks.get(entry.event) if isinstance(hooks, dict) else None
    index = entry.path[2]
    group = groups[index] if isinstance(groups, list) and isinstance(index, int) else None
    return group.get("matcher") if isinstance(group, dict) else None


def shared(folder: str) -> list[Finding]:
    """Clients that run Claude Code's hooks besides their own."""
    from_claude = any(registrations.all_of("claude", folder))
    if not from_claude or not targets.found("cursor"):
        return []
    said = "Cursor also runs Claude Code's hooks; nmem knows whose event it is and stores it once"
    return [Finding("double", NOTE, said, "", "cursor")]
