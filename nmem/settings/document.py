"""Generates the table of docs/config.md from the declared settings."""

from __future__ import annotations

import json

from nmem.settings.declared import TABLES
from nmem.settings.listing import allowed

BEGIN, END = "<!-- settings -->", "<!-- end of settings -->"


def markdown() -> str:
    """A section for each table of config.toml."""
    out = []
    for table in TABLES:
        out += [f"### [{table[0].parts[0]}]", "", "| setting | default | may be | meaning |", "|---|---|---|---|"]
        for one in table:
            default = "none" if one.default is None else f"`{json.dumps(one.default)}`"
            parts = f" (`*`: {', '.join(one.choices)})" if "*" in one.parts and one.choices else ""
            out.append(f"| `{one.name}` | {default} | {allowed(one)} | {one.meaning}{parts} |")
        out.append("")
    return "\n".join(out)


def renewed(text: str) -> str:
    """A document with the table as it is now. Raises ValueError where the document has no place for it."""
    before, mark, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError("the marks between which the settings stand are gone")
    return f"{before}{BEGIN}\n\n{markdown()}\n{END}{after}"
