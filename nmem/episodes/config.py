"""Episode settings from the user's config.toml, without reading TOML in a hook.

    [episodes]
    method = "default"                     # or "jaccard": the plain rule of keyword bags

What cannot be read leaves the default in force.
"""

from __future__ import annotations

from capture import config_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    Form = tuple[str, list[str]]

METHODS = ("default", "jaccard")


def method() -> str:
    """How prompts are divided into episodes; never raises."""
    return config_table.load("episodes", (str, [str]), form, _unread)[0]


def _unread(trouble: str) -> Form:
    return METHODS[0], [trouble]


def form(document: dict[str, object], file: str = "config.toml") -> Form:
    """The [episodes] table of a document as (method, what is wrong with it)."""
    section = document.get("episodes", {})
    if not isinstance(section, dict):
        return METHODS[0], [f"{file}: [episodes] is not a table"]
    trouble = [f"{file}: episodes.{key} is not known" for key in section if key != "method"]
    found = section.get("method", METHODS[0])
    if found not in METHODS:
        trouble.append(f"{file}: episodes.method is one of {', '.join(METHODS)}")
        found = METHODS[0]
    return str(found), trouble
