"""The text above an index: tells its readers how to ask."""

from __future__ import annotations

HEADER = """When you need to know how something is done here, ask: `nmem when <trigger>` or `nmem how <trigger>`.

    /when <trigger>          the decision, and the ones beside it
    /when .Section Title     a section by its heading, of any level
    /when ..file.md          a whole file of decisions

Any words do; the triggers below are the surest. An entry is `/when trigger | extra triggers`.
"""
NEW = f"# Memory Index\n\n{HEADER}"
"""A whole index without entries."""
