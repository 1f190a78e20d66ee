"""Prices: what is known, what a person's own file changes, and what is wrong with one, in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nmem.cost import prices
from nmem.errors import NmemError


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a person's own prices lie."""
    monkeypatch.setenv("NMEM_CONFIG", str(tmp_path / "config.toml"))
    return tmp_path / "prices.json"


@pytest.mark.parametrize(("model", "million"), [
    ("claude-opus-4-5-20251101", (5, 25, 0.5, 6.25, 10)), ("claude-opus-4-20250514", (15, 75, 1.5, 18.75, 30)),
    ("claude-opus-4-1-20250805", (15, 75, 1.5, 18.75, 30)), ("claude-opus-4-6-fast", (30, 150, 3, 37.5, 60)),
    ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", (3, 15, 0.3, 3.75, 6)), ("claude-sonnet-5", (2, 10, 0.2, 2.5, 4)),
    ("claude-haiku-4-5-20251001", (1, 5, 0.1, 1.25, 2)), ("gpt-5.5", (5, 30, 0.5, 5, 5)),
    ("gpt-5.3-codex-spark", (1.75, 14, 0.175, 1.75, 1.75)), ("gpt-5-codex", (1.25, 10, 0.125, 1.25, 1.25)),
    ("gpt-5.1-codex-mini", (0.25, 2, 0.025, 0.25, 0.25)), ("gemini-3-flash-preview", (0.5, 3, 0.05, 0.5, 0.5)),
])  # fmt: skip
def test_models_are_found_by_pattern(own: Path, model: str, million: tuple[float, ...]) -> None:
    found = prices.load().of(model)
    assert found is not None
    assert found.rates == million
    assert found.money((1_000_000, 0, 1_000_000, 0, 0), long=False) == pytest.approx(million[0] + million[2])


@pytest.mark.parametrize("model", [
    "gpt-5-pro", "gpt-5-pro-2025-10-06", "gpt-5.2-pro", "gpt-5.4-pro", "gpt-5.4-pro-2026-03-05", "gpt-5.1-pro",
    "gpt-5.3-codex-mini", "gpt-5-codex-mini", "gpt-5.5-mini", "gpt-5.2-mini", "gpt-5.6-sol-pro", "gpt-5.4-mini-pro",
])  # fmt: skip
def test_a_variant_does_not_take_another_model_s_price(own: Path, model: str) -> None:
    assert prices.load().of(model) is None


@pytest.mark.parametrize(("model", "given"), [
    ("gpt-5-2025-08-07", 1.25), ("openai/gpt-5", 1.25), ("gpt-5.1-codex-max", 1.25), ("gpt-5.2-2025-12-11", 1.75),
    ("gpt-5.2-codex", 1.75), ("gpt-5-mini-2025-08-07", 0.25), ("gpt-5.4-2026-03-05", 2.5), ("gpt-5.5-pro", 30),
])  # fmt: skip
def test_a_dated_model_has_the_price_of_its_name(own: Path, model: str, given: float) -> None:
    found = prices.load().of(model)
    assert found is not None
    assert found.rates[0] == given


def test_a_long_question_costs_what_the_table_says_above(own: Path) -> None:
    table = prices.load()
    sonnet = table.of("claude-sonnet-4-20250514")
    assert sonnet is not None
    assert sonnet.above == 200_000
    assert sonnet.money((0, 0, 1_000_000, 0, 0), long=True) == pytest.approx(0.6)
    assert table.steps() == (200_000, 272_000)


def test_an_own_file_comes_first_and_gives_unknown_models_a_price(own: Path) -> None:
    assert prices.load().of("qwen3-coder") is None
    own.write_text(json.dumps({"models": [{"match": "QWEN*", "input": 1, "output": 2},
                                          {"match": "*opus-4-6*", "input": 4, "output": 20}]}))  # fmt: skip
    table = prices.load()
    qwen, opus, other = (table.of(name) for name in ("qwen3-coder", "claude-opus-4-6", "claude-opus-4-5"))
    assert qwen is not None
    assert qwen.rates == (1, 2, 1, 1, 1)
    assert opus is not None
    assert opus.rates[:2] == (4, 20)
    assert other is not None
    assert other.rates[:2] == (5, 25)


def test_an_own_file_in_another_currency_stands_alone(own: Path) -> None:
    own.write_text(json.dumps({"currency": "EUR", "models": [{"match": "gpt*", "input": 1, "output": 2}]}))
    table = prices.load()
    assert (table.currency, len(table.prices), table.of("claude-opus-4-6")) == ("EUR", 1, None)


def test_a_named_file_is_used_and_one_that_is_not_there_is_said(own: Path) -> None:
    named = own.with_name("mine.json")
    own.with_name("config.toml").write_text(f'[cost]\nprices = "{named}"\n')
    with pytest.raises(NmemError, match=r"mine\.json does not exist: cost\.prices"):
        prices.load()
    named.write_text('{"models": []}')
    assert prices.load().of("claude-opus-4-6") is not None


@pytest.mark.parametrize(("text", "said"), [
    ("{", "is no JSON"), ("[]", 'needs {"currency"'), ('{"models": [3]}', r'models\[0\]: needs a "match"'),
    ('{"models": [{"match": "a", "input": "3", "output": 1}]}', '"input" must be a price'),
    ('{"models": [{"match": "a", "input": 3}]}', '"output" must be a price'),
    ('{"models": [{"match": "a", "input": -1, "output": 1}]}', '"input" must be a price'),
    ('{"models": [{"match": "a", "input": 1, "output": 1, "above": {"input": 1, "output": 1}}]}', "needs \"tokens\""),
    ('{"currency": 3, "models": []}', "currency must be"),
])  # fmt: skip
def test_what_is_wrong_is_one_line_that_names_the_file(own: Path, text: str, said: str) -> None:
    own.write_text(text)
    with pytest.raises(NmemError, match=said) as caught:
        prices.load()
    assert str(own) in str(caught.value)
    assert "\n" not in str(caught.value)
