"""The figures on labelled material of others; skipped where it is absent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from capture.redaction import redact
from capture.text import clean
from nmem.evaluate.secrets import evaluate, records


def test_hand_labelled_lines(shared: Path) -> None:
    figures = evaluate(records([shared / "data/secrets/creddata_30repos.jsonl"]))
    assert figures["by"]["without_uuid"]["recall"] >= 0.80  # type: ignore[index]
    assert figures["false_alarm_rate"] <= 0.015  # type: ignore[operator]


def test_other_scanners_samples(shared: Path) -> None:
    files = [file for file in sorted((shared / "data/secrets").glob("*.jsonl")) if "creddata" not in file.name]
    assert evaluate(records(files))["recall"] >= 0.90  # type: ignore[operator]


def test_real_sessions_are_left_alone(shared: Path) -> None:
    texts = [clean(text[:9_000]) for text in _spoken(shared / "data/transcripts/claude-code") if text]
    changed = sum(redact(text)[:8_000] != text[:8_000] for text in texts)
    assert len(texts) > 5_000
    assert changed <= 0.001 * len(texts)


def _spoken(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("*.jsonl")):
        for line in file.read_text(errors="replace").splitlines():
            record = json.loads(line) if line.startswith("{") else {}
            content = (record.get("message") or {}).get("content") if isinstance(record, dict) else None
            for block in content if isinstance(content, list) else [content]:
                yield from _texts(block)


def _texts(block: object) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, dict):
        yield from (block[name] for name in ("text", "thinking") if isinstance(block.get(name), str))
        for value in (block.get("input") or {}).values():
            yield value if isinstance(value, str) else json.dumps(value)
        if block.get("type") == "tool_result":
            inner = block.get("content")
            yield from _texts(inner) if isinstance(inner, str) else (t for item in inner or [] for t in _texts(item))
