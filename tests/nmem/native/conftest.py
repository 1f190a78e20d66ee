"""A checkout with a past: files and scripts that commits took out, and the instructions that still name them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from capture.project import resolve
from nmem.native.review import Finding, Report, review
from tests.nmem.conftest import START, Recorded

DAY = 86_400_000
NOW = START + 100 * DAY
SCRIPTS = {"test": "vitest run", "lint": "eslint .", "css:build": "tailwindcss"}
CLAUDE = """\
# Shop

Run `npm run test` after each change; `npm run test:legacy` covers the old carts.

## Layout

```
shop/
├── src/
│   ├── api/
│   │   ├── orders.ts      # routes
│   │   └── carts.ts
│   ├── jobs/
│   └── pricing.ts
```

- `src/api/`: the routes
- `src/queue.ts`: the worker's queue
- Money is counted in `src/cash.ts`, in cents
- `dist/app.js` is what is deployed
- New routes go into `src/api/<name>.ts`, as `src/routes/example.ts` does
- Branches are called `feature/orders`
- `tests/setup.yml` holds the accounts

## Rules

- Always run the linter before you push, whatever the change is.
- Use docker to start the database in tests.
- Never write to the orders table outside of a transaction.

## Commands

```bash
npm run lint           # eslint
npm run db:migrate     # the schema
cd web && npm run css:build
make fixtures
npm run <name>
```

## Before a release

- Always run the linter before you push, whatever the change is.
"""


def git(folder: Path, *words: str, day: str = "2025-10-01") -> None:
    """Run git as somebody, on a day."""
    stamp = f"{day}T12:00:00+0000"
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b.c", *words],
        check=True, capture_output=True,
        env={"PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_COMMITTER_DATE": stamp, "GIT_AUTHOR_DATE": stamp,
             "HOME": str(folder)},
    )  # fmt: skip


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="session")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout; each test has a copy of it."""
    folder = tmp_path_factory.mktemp("grown") / "shop"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    code = "\n".join(f"export const n{at} = {at};" for at in range(20))
    before = {"test:legacy": "vitest run legacy", "db:migrate": "drizzle-kit push"}
    put(folder, **{
        "src/api/orders.ts": "a", "src/api/carts.ts": "b", "src/pricing.ts": "c", "src/queue.ts": "queue",
        "src/cash.ts": code,
        "tests/setup.yml": "old\n" * 9,
        "web/package.json": json.dumps({"scripts": {"css:build": "x"}}), ".gitignore": "dist/\n",
        "package.json": json.dumps({"scripts": SCRIPTS | before}, indent=1),
        "Makefile": "seed:\n\techo\n", "CLAUDE.md": CLAUDE,
        "src/jobs/mail.ts": "d", "src/jobs/bill.ts": "e",
    })  # fmt: skip
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    for gone in ("src/queue.ts", "src/jobs/mail.ts", "src/jobs/bill.ts"):
        (folder / gone).unlink()
    (folder / "src/jobs").rmdir()
    (folder / "tests/setup.yml").unlink()
    (folder / "src/cash.ts").rename(folder / "src/money2.ts")
    put(folder, **{"package.json": json.dumps({"scripts": SCRIPTS}, indent=1), "tests/setup.yaml": "x"})
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "second", day="2025-10-05")
    return folder


@pytest.fixture
def checkout(grown: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "src" / "shop"
    shutil.copytree(grown, folder)
    return folder


@pytest.fixture
def shop(record: Recorded, checkout: Path) -> Recorded:
    """The records of the project in that checkout."""
    found = resolve(str(checkout))
    record.db.execute("UPDATE projects SET key = ?, root = ?, name = 'shop'", (found.key, found.root))
    return record


@pytest.fixture
def look(checkout: Path, own_home: Path) -> Callable[..., Report]:
    """Reviews the checkout, with records where they are given."""

    def reviewed(shop: Recorded | None = None) -> Report:
        return review(shop.db if shop else None, 1 if shop else None, "shop", str(checkout), str(own_home), NOW)

    return reviewed


def at(report: Report, kind: str) -> dict[int, Finding]:
    """The findings of a kind in CLAUDE.md, by line."""
    return {one.line: one for one in report.findings if one.kind == kind and one.file == "CLAUDE.md"}
