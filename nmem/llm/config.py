"""Model settings as a plain value that callers pass in; reads no file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from nmem.errors import NmemError
from nmem.settings.declared import LLM
from nmem.settings.kinds import NUMBER, WHOLE, wrong

KEY_VARIABLE = "NMEM_LLM_KEY"
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
_DECLARED = {setting.parts[1]: setting for setting in LLM}
_NUMBERS = tuple(name for name, setting in _DECLARED.items() if setting.kind in (NUMBER, WHOLE))


@dataclass(frozen=True, slots=True)
class Settings:
    """How to reach a model and how much of it to use; with neither `base_url` nor `command`, loopback is looked at."""

    enabled: bool = True
    base_url: str = ""
    """Up to and including the version: `http://127.0.0.1:1234/v1`."""
    model: str = ""
    """Empty: the first that the endpoint lists, or the command's own default."""
    key: str = field(default="", repr=False)
    command: tuple[str, ...] = ()
    """The person's own client, as a list: `("claude", "-p")`; it wins over `base_url`."""
    connect_seconds: float = 3.0
    call_seconds: float = 120.0
    """For one call as a whole, from connecting to the last byte."""
    max_tokens: int = 900
    context_tokens: int = 6000
    """What the material of one prompt may take; small models do better with tight prompts."""
    daily_token_cap: int = 200_000
    """Prompt and reply together, a day; 0 asks nothing."""

    @property
    def host(self) -> str:
        """The host that text would go to, empty for a command."""
        return "" if self.command else urlsplit(self.base_url).hostname or ""

    def warnings(self) -> list[str]:
        """What a person should know about these settings, one line each."""
        parts = urlsplit(self.base_url)
        if self.base_url and not self.command and parts.scheme == "http" and not loopback(self.base_url):
            return [f"{parts.hostname} uses http: others can read what is sent"]
        return []


def loopback(url: str) -> bool:
    """Whether a URL names this machine."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in _LOOPBACK or (host.startswith("127.") and host.replace(".", "").isdigit())


def from_table(table: Mapping[str, object], env: Mapping[str, str]) -> Settings:
    """Settings from the `[llm]` table of config.toml; the key may be in `NMEM_LLM_KEY` or where `key_env` says."""
    if unknown := sorted(set(table) - set(_DECLARED)):
        raise NmemError(f"config: [llm] has no setting {unknown[0]!r}; it has {', '.join(sorted(_DECLARED))}")
    for name, value in table.items():
        if said := wrong(_DECLARED[name], value):
            raise NmemError(f"config: llm.{name} {said}")
    settings = Settings(
        enabled=bool(table.get("enabled", True)),
        base_url=_text(table, "base_url").rstrip("/"),
        model=_text(table, "model"),
        key=env.get(_text(table, "key_env") or KEY_VARIABLE, "") or _text(table, "key"),
        command=_command(table),
    )
    return replace(settings, **{name: table[name] for name in _NUMBERS if name in table})  # type: ignore[arg-type]


def _text(table: Mapping[str, object], name: str) -> str:
    return str(table.get(name, "")).strip()


def _command(table: Mapping[str, object]) -> tuple[str, ...]:
    value = table.get("command", [])
    return tuple(str(word) for word in value) if isinstance(value, list) else ()
