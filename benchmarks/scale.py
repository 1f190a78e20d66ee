"""What a memory holds and grows by: rows a developer-day, bytes a row by table. docs/scale.md reckons with it.

    python benchmarks/scale.py PATH [--json]

PATH is opened read-only. A developer-day is a day on which a project had calls: most projects on one's own machine have
one developer. Bytes are whole pages with all indexes and the text index (`dbstat`); `payload` is what the columns hold,
as a server without these indexes would have to store it.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

DAY_MS = 86_400_000
KINDS = {
    "sessions": "SELECT project_id, started_at AS at FROM sessions",
    "prompts": "SELECT s.project_id, p.at FROM prompts p JOIN sessions s ON s.id = p.session_id",
    "observations": "SELECT s.project_id, o.at FROM observations o JOIN sessions s ON s.id = o.session_id",
    "work_units": "SELECT s.project_id, w.started_at AS at FROM work_units w JOIN sessions s ON s.id = w.session_id",
    "said_decisions": "SELECT s.project_id, d.at FROM said_decisions d JOIN sessions s ON s.id = d.session_id",
    "learnings": "SELECT project_id, first_at AS at FROM learnings",
}
"""What is counted by day: episodes are work_units."""
TOLD = {
    "work_units": "intent title summary learned completed next_steps notes files_read files_edited outcomes commits",
    "said_decisions": "wording",
    "learnings": "key title rule remedy files",
}
"""The columns that a team would share."""
SHOWN = 20
_SHADOWS = ("_data", "_idx", "_content", "_docsize", "_config")


def exists(db: sqlite3.Connection, table: str) -> bool:
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone())


def days(db: sqlite3.Connection) -> dict[str, dict[str, float]]:
    """Rows of each kind on a developer-day: the mean, and percentiles over days with calls."""
    active = set(db.execute(f"SELECT DISTINCT project_id, at / {DAY_MS} FROM ({KINDS['observations']})"))
    found: dict[str, dict[str, float]] = {"developer-days": {"count": len(active)}}
    for name, rows in KINDS.items():
        if not exists(db, name):
            continue
        by_day = Counter(db.execute(f"SELECT project_id, at / {DAY_MS} FROM ({rows})"))
        counts = sorted(by_day.get(day, 0) for day in active)
        found[name] = {"mean": round(sum(by_day.values()) / len(active), 2), "median": counts[len(counts) // 2],
                       "p90": counts[int(0.9 * len(counts))], "most": counts[-1]}  # fmt: skip
    return found


def owner(name: str, tables: dict[str, str]) -> str:
    """The table that pages belong to: of an index its table, of a text index what it indexes."""
    table = tables.get(name, name)
    for ending in _SHADOWS:
        if table.endswith(ending) and "fts" in table:
            return table.removesuffix(ending).removesuffix("_fts")
    return table


def sizes(db: sqlite3.Connection) -> list[dict[str, object]]:
    """Each table with its rows, bytes with all indexes, bytes a row, and bytes of its columns a row; largest first."""
    tables = dict(db.execute("SELECT name, tbl_name FROM sqlite_master WHERE type IN ('table', 'index')"))
    pages: Counter[str] = Counter()
    for name, size in db.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"):
        pages[owner(name, tables)] += size
    found = []
    for name, size in pages.most_common(SHOWN):
        rows = db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] if exists(db, name) else 0
        found.append({"table": name, "rows": rows, "megabytes": round(size / 1e6, 2),
                      "bytes a row": round(size / rows) if rows else 0,
                      "payload a row": payload(db, name) if rows else 0})  # fmt: skip
    return found


def payload(db: sqlite3.Connection, name: str) -> int:
    """Bytes that the columns of a row hold, the mean: text and blobs as they are, numbers as eight."""
    columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
    each = " + ".join(
        f"CASE typeof({column}) WHEN 'null' THEN 0 WHEN 'text' THEN length(CAST({column} AS BLOB))"
        f" WHEN 'blob' THEN length({column}) ELSE 8 END"
        for column in columns
    )
    return round(db.execute(f"SELECT avg({each}) FROM (SELECT * FROM {name} LIMIT 50000)").fetchone()[0] or 0)


def told(db: sqlite3.Connection) -> dict[str, int]:
    """Bytes a row of what a team would share, the mean; of a decision those of the prompt that it quotes, too."""
    found = {}
    for name, columns in TOLD.items():
        if exists(db, name):
            each = " + ".join(f"coalesce(length(CAST({column} AS BLOB)), 0)" for column in columns.split())
            each += " + said_size" if name == "said_decisions" else ""
            found[name] = round(db.execute(f"SELECT avg({each}) FROM {name}").fetchone()[0] or 0)
    return found


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with closing(sqlite3.connect(f"file:{options.path}?mode=ro&immutable=1", uri=True)) as db:
        found: dict[str, object] = {"days": days(db), "shared": told(db), "tables": sizes(db)}
    if options.json:
        print(json.dumps(found))
        return
    for name, figures in found["days"].items():  # type: ignore[attr-defined]
        print(f"{name:16}", "  ".join(f"{key} {value:g}" for key, value in figures.items()))
    print("shared, bytes   ", "  ".join(f"{key} {value}" for key, value in found["shared"].items()))  # type: ignore[attr-defined]
    for row in found["tables"]:  # type: ignore[attr-defined]
        print(f"{row['table']:22} {row['rows']:9} rows {row['megabytes']:8} MB {row['bytes a row']:7} bytes a row"
              f" {row['payload a row']:6} in its columns")  # fmt: skip


if __name__ == "__main__":
    main()
