"""A project with decisions of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

INDEX = """# Index

/when <trigger>   # how to ask, no entry
## docs/decisions/kitchen.md

/when bread does not rise | yeast, cold dough
/how sharpen knives | whetstone angle burr

## garden

/when watering tomatoes
/when leaves turn yellow | nitrogen, iron
/how prune roses
"""
KITCHEN = """# Kitchen

## .Baking

### When Bread Does Not Rise

Feed the yeast and keep it warm; a cold oven rack stops fermentation.

```sh
# not a heading
## When Nothing Is One
```

After the fence.

### How to Sharpen Knives

Hold the blade at fifteen degrees on the whetstone.
"""
GARDEN = """# Garden

## When Watering Tomatoes

In the morning, at the roots.

### Exceptions

Never in frost.

## When Leaves Turn Yellow

Check nitrogen before iron.

## How to Prune Roses

In February, above an outward bud.
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with two decision files and their index; the current folder."""
    root = tmp_path / "project"
    folder = root / "docs" / "decisions"
    folder.mkdir(parents=True)
    (root / ".git").mkdir()
    (root / "docs" / "memory-index.md").write_text(INDEX)
    (folder / "kitchen.md").write_text(KITCHEN)
    (folder / "garden.md").write_text(GARDEN)
    monkeypatch.chdir(root)
    return root
