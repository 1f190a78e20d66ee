"""What is declared is what the readers take: each of them is asked about values within and beyond the bounds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capture.clients import CLIENTS
from capture.redaction import settings as redaction
from nmem.context import config as context
from nmem.episodes import weigh
from nmem.errors import NmemError
from nmem.llm import config as llm
from nmem.settings import check, kinds
from nmem.settings.declared import SETTINGS, TABLES, find, tables
from nmem.settings.kinds import ANY, KINDS, Setting
from nmem.threads import config as threads

ROOT = Path(__file__).resolve().parents[3]
ODD: tuple[Any, ...] = (
    True, False, 0, 1, -1, 0.0, 0.25, 0.5, 0.51, 2400, 2400.5, 2401, 2000, 2001, 10_080, 10_081, 10**12, "", "x",
    "a\nb",
    "fitted", "seed", "default", "jaccard",
    "http://127.0.0.1:1234/v1", "http://u:p@h/v1", "ftp://x", [], ["a"], [1], [[]], {}, {"a": 1},
    [{"name": "a", "regex": "TCK-[0-9]+"}], [{"name": "a", "regex": "("}], [{"name": "A B", "regex": "x"}],
    [{"regex": "x"}], [{"name": "a", "regex": "x*"}], [{"name": "a"}], ["literal", {"regex": "demo-.*"}],
)  # fmt: skip


def llm_says(table: dict[str, Any]) -> list[str]:
    try:
        llm.from_table(table, {})
    except NmemError as error:
        return [str(error)]
    return []


READERS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "redaction": lambda table: redaction._form("config.toml", {"redaction": table})[-1],
    "context": lambda table: context.form({"context": table})[-1],
    "episodes": lambda table: weigh.form({"episodes": table})[-1],
    "threads": lambda table: threads.form({"threads": table})[-1],
    "llm": llm_says,
}
BY_OTHERS = [setting for setting in SETTINGS if setting.parts[0] in READERS]


def table_of(setting: Setting, value: object) -> dict[str, Any]:
    parts = [CLIENTS[0] if part == ANY else part for part in setting.parts[1:]]
    out: dict[str, Any] = {parts[-1]: value}
    for part in reversed(parts[:-1]):
        out = {part: out}
    return out


@pytest.mark.parametrize("setting", BY_OTHERS, ids=lambda each: str(each.name))
def test_a_reader_takes_what_is_declared_and_nothing_else(setting: Setting) -> None:
    for value in ODD:
        table = table_of(setting, value)
        declared = check.faults({setting.parts[0]: table})
        assert bool(READERS[setting.parts[0]](table)) == bool(declared), (setting.name, value, declared)


@pytest.mark.parametrize("name", READERS)
def test_a_reader_knows_no_other_names(name: str) -> None:
    assert READERS[name]({"qqq": 1})
    assert check.faults({name: {"qqq": 1}})
    assert READERS[name]({}) == [] == check.faults({name: {}})


def test_the_defaults_are_those_of_the_readers() -> None:
    for setting in BY_OTHERS:
        part = setting.parts[-1]
        if setting.parts[0] == "context" and part in context.DEFAULTS:
            assert float(setting.default) == context.DEFAULTS[part]  # type: ignore[arg-type]
        if setting.parts[0] == "llm" and part != "key_env":
            assert setting.default == getattr(llm.Settings(), part)
    assert getattr(find(("threads", "timeout_minutes")), "default", None) == threads.TIMEOUT_MINUTES
    assert weigh.METHODS[0] == getattr(find(("episodes", "method")), "default", None)
    assert threads.Config().method == getattr(find(("threads", "method")), "default", None)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda each: str(each.name))
def test_a_setting_is_whole(setting: Setting) -> None:
    assert setting.kind in KINDS
    assert setting.meaning
    assert "\n" not in setting.meaning
    assert not setting.meaning.endswith(".")
    if setting.default is not None:
        assert kinds.wrong(setting, setting.default) == ""


def test_names_are_distinct_and_tables_together() -> None:
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)
    assert [len({setting.parts[0] for setting in table}) for table in TABLES] == [1] * len(TABLES)
    assert len(tables()) == len(TABLES)
