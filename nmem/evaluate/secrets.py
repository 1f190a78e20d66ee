"""Evaluates redaction on labelled texts: secrets found, harmless text damaged.

A record is {text, is_secret, value, kind, source}. A secret is found when its value is gone from the redacted text (or,
where the record does not say which part is the secret, when the text changed); a false alarm is a text without a secret
that changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypedDict

from capture.redaction import redact
from nmem.errors import NmemError

BASELINE = {
    "name": "gitleaks' rules on CredData (published)", "recall": 0.189, "recall_without_uuid": 0.266,
    "false_alarm_rate": 0.023, "secrets": None, "others": None,
}  # fmt: skip


class Record(TypedDict, total=False):
    """One labelled text."""

    text: str
    is_secret: bool
    value: str | None
    kind: str
    source: str


class Tally:
    """What was found and what was spoiled."""

    __slots__ = ("alarms", "found", "others", "secrets")

    def __init__(self) -> None:
        self.secrets = self.found = self.others = self.alarms = 0

    def add(self, record: Record, changed: str) -> None:
        """Count one record whose redacted text is `changed`."""
        if record["is_secret"]:
            self.secrets += 1
            self.found += is_found(record, changed)
        else:
            self.others += 1
            self.alarms += changed != record["text"]

    def figures(self) -> dict[str, object]:
        """recall and false_alarm_rate are None where there is nothing to divide by."""
        return {
            "recall": round(self.found / self.secrets, 4) if self.secrets else None,
            "false_alarm_rate": round(self.alarms / self.others, 4) if self.others else None, "secrets": self.secrets,
            "others": self.others,
        }  # fmt: skip


def is_found(record: Record, changed: str) -> bool:
    """Is the secret gone?"""
    value = record.get("value")
    return value not in changed if value else changed != record["text"]


def records(files: Iterable[Path]) -> Iterator[Record]:
    """The labelled texts of JSONL files. Raises NmemError at the first line that is none."""
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _record(line, f"{file}:{number}")


def _record(line: str, where: str) -> Record:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise NmemError(f"{where}: not JSON: {error}") from None
    if not isinstance(record, dict) or not isinstance(record.get("text"), str) or "is_secret" not in record:
        raise NmemError(f"{where}: a record needs `text` and `is_secret`")
    return Record(**record)  # type: ignore[typeddict-item]


def origin(record: Record) -> str:
    """The repository that a record comes from: the last `owner/name` that its source names."""
    source = str(record.get("source") or "unknown").split("-> ")[-1]
    return source.split("@")[0].split(" ")[0]


def evaluate(found: Iterable[Record]) -> dict[str, object]:
    """The figures of all records, without the kind UUID, and by kind and source."""
    total, without = Tally(), Tally()
    kinds: dict[str, Tally] = {}
    sources: dict[str, Tally] = {}
    for record in found:
        changed = redact(record["text"])
        kind = str(record.get("kind") or "unknown")
        for tally in (total, kinds.setdefault(kind, Tally()), sources.setdefault(origin(record), Tally())):
            tally.add(record, changed)
        if kind != "UUID":
            without.add(record, changed)
    figures = total.figures()
    figures["baseline"] = dict(BASELINE)
    figures["by"] = {
        "without_uuid": without.figures(),
        "kind": {name: tally.figures() for name, tally in sorted(kinds.items())},
        "source": {name: tally.figures() for name, tally in sorted(sources.items())},
    }
    return figures
