"""Parses the index of decisions: `## file`, then one line per decision, `/when trigger | extra triggers`.

What stands before the first section is for readers. Extra triggers are divided by commas, or are words.
"""

from __future__ import annotations

OPERATORS = ("when", "how")
NO_KEY = "an entry begins with /when or /how"


class Line:
    """An entry as a line of the index has it; `number` counts from 0."""

    __slots__ = ("extras", "number", "operator", "section", "trigger")

    def __init__(self, number: int, section: str, operator: str, trigger: str, extras: tuple[str, ...]) -> None:
        self.number, self.section, self.operator, self.trigger, self.extras = number, section, operator, trigger, extras


class Fault:
    """A line of a section that is no entry, and why."""

    __slots__ = ("number", "section", "text", "why")

    def __init__(self, number: int, section: str, text: str, why: str) -> None:
        self.number, self.section, self.text, self.why = number, section, text, why


def parse(lines: list[str]) -> tuple[list[Line], list[Fault], list[tuple[int, str]]]:
    """Entries, lines that are none, and the sections (line, name), each in the order of the file."""
    entries: list[Line] = []
    faults: list[Fault] = []
    sections: list[tuple[int, str]] = []
    section = ""
    for number, raw in enumerate(lines):
        line = raw.rstrip()
        if line.startswith("## ") and line[3:].strip():
            section = line[3:].strip().strip("`")
            sections.append((number, section))
        elif section and line.strip() and not line.startswith("<!--"):
            found, why = entry(line)
            if found is None:
                faults.append(Fault(number, section, line, why))
            else:
                entries.append(Line(number, section, *found))
    return entries, faults, sections


def entry(line: str) -> tuple[tuple[str, str, tuple[str, ...]] | None, str]:
    """Operator, trigger and extras of one line; or None, and what is wrong with it."""
    if not line.startswith("/"):
        return None, NO_KEY
    operator, _, rest = line[1:].partition(" ")
    if operator not in OPERATORS:
        return None, NO_KEY
    trigger, _, extras = rest.partition("|")
    if not trigger.strip():
        return None, "its trigger is empty"
    return (operator, trigger.strip(), tuple(part.strip() for part in extras.split(",") if part.strip())), ""


def written(operator: str, trigger: str, extras: tuple[str, ...] = ()) -> str:
    """An entry as a line."""
    return f"/{operator} {trigger}{' | ' + ', '.join(extras) if extras else ''}"


def trigger_of(title: str) -> str:
    """A heading's words as a trigger: in lower case, but for names and abbreviations."""
    words = title.replace("|", "/").split()
    return " ".join(word.lower() if word[1:].islower() or len(word) == 1 else word for word in words)


DASHES = (" — ", " – ", " -- ", " - ")


def passive(line: str) -> tuple[str, str] | None:
    """Key and description of a line of an older index, `Key — description`; None for any other line."""
    bare = line.strip().removeprefix("- ").removeprefix("* ").strip()
    if not bare or bare.startswith(("#", "/", "<!--", ">", "|")):
        return None
    for dash in DASHES:
        key, found, description = bare.partition(dash)
        if found and key.strip() and description.strip():
            return key.strip().strip("*`").strip() or key, description.strip()
    return None


HEADER = """When you need to know how something is done here, ask: `nmem when <trigger>` or `nmem how <trigger>`.

    /when <trigger>          the decision, and the ones beside it
    /when .Section Title     a section by its heading, of any level
    /when ..file.md          a whole file of decisions

Any words do; the triggers below are the surest. An entry is `/when trigger | extra triggers`.
"""
NEW = f"# Memory Index\n\n{HEADER}"
"""A whole index without entries."""
