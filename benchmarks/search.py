"""How long searches take on a million observations: `python benchmarks/search.py [DATABASE] [--rounds N]`.

The database is made and taken in by the search where it is missing (about ten minutes). Each query runs on a
connection of its own; cold: the file's pages are dropped from the system's cache before it.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import grown
from benchmarks.searched import NEWEST, Maker, grow
from capture.storage import store
from nmem import database
from nmem.search import refresh
from nmem.search.search import search


def queries() -> dict[str, list[str]]:
    """What people type, by kind; the words are those of the invented texts."""
    made, dice = Maker(1000).words, random.Random(11)

    def word(low: int, high: int) -> str:
        return made.words[dice.randrange(low, high)]

    return {
        "a word in 70 %": ["widget", "widget test", "the widget", "file widget error", f"widget {word(3000, 9000)}"],
        "a beginning": ["wid", "pa", "s", "parse", "th", "ba"],
        "one word": [word(0, 200) for _ in range(4)] + [word(5000, 60000) for _ in range(4)],
        "two words": [f"{word(0, 300)} {word(0, 300)}" for _ in range(6)],
        "five words": [" ".join(word(0, 3000) for _ in range(5)) for _ in range(6)],
        "a sentence": ["what was the decision about the parser cache and why did the login test fail"],
        "nowhere": ["qqqzzz", "zzzqq yyyxx", "xyzzy widget"],
        "identifiers, parts": [*(made.ident() for _ in range(4)), "getUserId", "ssionTok", "tokencache", "src/test"],
        "unspaced": ["登录", "登录页", "缓存", "テスト", "로그인 화면", "登录 widget"],
        "signs": ["🚀", "!!", "C++", '"', "#42"],
        "phrases": ['"token cache"', '"the test file"'],
        "filters": ["type:git_commit", "is:failed", "is:pinned", "project:p30", "since:7d type:test"],
        "filters and words": ["widget project:p30", "widget type:mcp_call", "widget is:failed", "widget file:session",
                              "session project:p30", "cache type:build is:failed", "widget !test"],
        "10,000 characters": [" ".join(made.one() for _ in range(1500))[:10_000], "x" * 10_000, "登录" * 5_000],
    }  # fmt: skip


def lived() -> list[str]:
    """What is asked of a memory that benchmarks/lived.py made: each of its 48 words stands in many rows."""
    dice = random.Random(13)
    asked = [grown.words(dice, count) for count in (1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 5, 5, 9)]
    names = [f"src/{grown.words(dice, 1)}", f"{grown.words(dice, 1)}.py", f"test_{dice.randrange(97)}.py"]
    return [
        *asked, *names, "pars", "re", '"parser cache"', "type:test", "is:failed", "is:pinned", "since:7d type:command",
        f"{grown.words(dice, 1)} is:failed", f"{grown.words(dice, 1)} type:file_edit", "qqqzzz", "qqqzzz widget",
        "what was the decision about the parser cache and why did the ledger test fail",
    ]  # fmt: skip


def compared(
    paths: Mapping[str, Path], texts: Sequence[str], rounds: int, now: int
) -> dict[str, tuple[list[float], int]]:
    """Each text in each database, turn about, warm: milliseconds, and how many were stopped at the deadline."""
    found: dict[str, tuple[list[float], int]] = {name: ([], 0) for name in paths}
    for number in range(rounds + 1):
        for text in texts:
            for name, path in paths.items():
                took, cut = timed(path, text, "relevance", warm=True, now=now)
                if number:  # the first round warms the system's cache
                    times, stopped = found[name]
                    found[name] = ([*times, took], stopped + cut)
    return found


def ready(path: Path) -> None:
    """Make the database and take it in."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        grow(str(path))
    with closing(store.connect(str(path), timeout=10, autocheckpoint=1000)) as db:
        begun = time.perf_counter()
        taken = refresh.refresh(db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if taken:
        print(f"{taken:,} texts taken in by the search in {time.perf_counter() - begun:.0f} s")


def cold(path: Path) -> None:
    """Drop the file from the system's cache."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def timed(path: Path, query: str, order: str, *, warm: bool, now: int = NEWEST) -> tuple[float, bool]:
    """Milliseconds of one search, and whether its time was over."""
    if not warm:
        cold(path)
    with closing(database.reader(str(path))) as db:
        begun = time.perf_counter()
        found = search(db, query, now, order=order)
        return (time.perf_counter() - begun) * 1000, any("the time limit" in each for each in found.remarks)


def within(times: Sequence[float], part: float) -> float:
    """The time that this part of all stays within."""
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def main() -> None:
    """Print p50, p95 and the longest by kind of query, then of all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("database", nargs="?", default="/tmp/nmem-search/nmem.db", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    ready(given.database)
    for warm in (True, False):
        for order in ("relevance", "newest"):
            how, everything, over = "warm" if warm else "cold", list[float](), 0
            for name, texts in queries().items():
                found = [timed(given.database, text, order, warm=warm) for text in texts for _ in range(given.rounds)]
                times = [ms for ms, _ in found]
                everything += times
                over += sum(cut for _, cut in found)
                print(f"{how} {order:9} {name:20} p50 {within(times, 0.5):6.1f}  p95 {within(times, 0.95):6.1f} ms")
            print(f"{how} {order:9} {'ALL':20} p50 {within(everything, 0.5):6.1f}  p95 {within(everything, 0.95):6.1f}"
                  f"  max {max(everything):6.1f} ms; {over} of {len(everything)} stopped at the deadline")  # fmt: skip


if __name__ == "__main__":
    main()
