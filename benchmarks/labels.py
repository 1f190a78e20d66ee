"""What a label costs: loading the table, and a call of a long history from its columns to five scores.

    python -m benchmarks.labels [--check]

Calls are those of the written corpus, over and over; `cold` has met no command and no prompt before, `warm` all.
Limits: 35 microseconds a call cold, in one process; the table loads in 3 milliseconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from capture.labels import commands, wishes
from capture.labels.calls import Call, Seen
from capture.labels.model import Model, shipped
from nmem.labels.corpus import Example, examples, files

LIMIT_US, LIMIT_LOAD_MS = 35.0, 3.0
ROUNDS = 7


def best(work: Callable[[], object], before: Callable[[], object]) -> float:
    """Seconds of processor time of the quickest of some rounds."""
    found = []
    for _ in range(ROUNDS):
        before()
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return min(found)


def label(model: Model, calls: list[Example]) -> int:
    """Label every call as a row of a history: from its columns."""
    for one in calls:
        seen = one.seen
        given = seen.call
        model.label(
            Seen(Call(given.kind, given.tool, given.path, given.text, given.failed), seen.previous, seen.prompt)
        )
    return len(calls)


def forget() -> None:
    """What has been met before is unknown again."""
    commands._known.clear()
    wishes._known.clear()


def main() -> None:
    """Measure, print, and fail when a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="exit 1 when a limit is exceeded")
    given = parser.parse_args()
    model = shipped()
    if model is None:
        raise SystemExit("the table of weights is missing")
    calls = list(examples(files()))
    load = best(shipped, lambda: None) * 1e3
    cold = best(lambda: label(model, calls), forget) / len(calls) * 1e6
    warm = best(lambda: label(model, calls), lambda: None) / len(calls) * 1e6
    found = {"calls": len(calls), "load_ms": round(load, 2), "cold_us": round(cold, 1), "warm_us": round(warm, 1)}
    held = cold <= LIMIT_US and load <= LIMIT_LOAD_MS
    print(json.dumps({**found, "rows_per_second": round(1e6 / cold), "limits held": held}))
    if given.check and not held:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
