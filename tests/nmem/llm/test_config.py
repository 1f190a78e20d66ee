"""Settings of the model: what is accepted, what is refused in one line, and that the key is never shown."""

from __future__ import annotations

from typing import Any

import pytest

from nmem.errors import NmemError
from nmem.llm.config import Settings, from_table, loopback


def test_a_table_becomes_settings_and_the_environment_brings_the_key() -> None:
    table = {"base_url": "http://127.0.0.1:1234/v1/", "model": "m", "key": "from-config", "max_tokens": 300}
    settings = from_table(table, {})
    assert (settings.base_url, settings.model, settings.key, settings.max_tokens) == (
        "http://127.0.0.1:1234/v1", "m", "from-config", 300,
    )  # fmt: skip
    assert from_table(table, {"NMEM_LLM_KEY": "from-env"}).key == "from-env"
    assert from_table({"key_env": "MY_KEY"}, {"MY_KEY": "k", "NMEM_LLM_KEY": "other"}).key == "k"
    assert "from-config" not in repr(settings)
    assert from_table({}, {}) == Settings()
    assert from_table({"command": ["claude", "-p"]}, {}).command == ("claude", "-p")


@pytest.mark.parametrize(
    "table",
    [
        {"url": "x"}, {"base_url": "ftp://x"}, {"base_url": "127.0.0.1:1234"}, {"base_url": "http://u:p@host/v1"},
        {"base_url": "http://[::1"}, {"base_url": "http://x:99999/"}, {"base_url": 5},
        {"enabled": "yes"}, {"max_tokens": True}, {"max_tokens": 1.5}, {"max_tokens": 0}, {"call_seconds": "9"},
        {"daily_token_cap": -1}, {"command": "claude -p"}, {"command": [1]}, {"model": "a\nb"},
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_in_one_line(table: Any) -> None:
    with pytest.raises(NmemError, match="config: ") as refused:
        from_table(table, {})
    assert "\n" not in str(refused.value)


def test_text_in_the_clear_to_another_host_is_warned_about() -> None:
    assert Settings(base_url="http://192.168.1.9:1234/v1").warnings()
    assert not Settings(base_url="http://localhost:1234/v1").warnings()
    assert not Settings(base_url="https://api.example.com/v1").warnings()


@pytest.mark.parametrize(
    ("url", "is_here"),
    [("http://127.0.0.1/", True), ("http://[::1]:8/", True), ("http://127.0.0.1.evil.example/", False),
     ("http://x", False), ("http://localhost.evil.example/", False), ("http://[", False), ("http://127.evil/", False)],
)  # fmt: skip
def test_loopback_is_told_from_what_only_looks_like_it(url: str, is_here: bool) -> None:
    assert loopback(url) is is_here
