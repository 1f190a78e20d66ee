"""Parses a typed filter of episodes (words, `!word`, `is:open`, `thread:x`) into conditions for the database."""

from __future__ import annotations


class Filter:
    """A filter as typed: words of story, thread, project or files, `!word`, `is:open`, `thread:x`, `theme:3` ..."""

    KINDS = ("is", "thread", "theme", "project", "file")
    STATES = {  # noqa: RUF012 -- never changed
        "open": "u.state = 'open'", "closed": "u.state = 'closed'", "pinned": "u.pinned",
        "resumed": "u.resumes IS NOT NULL", "committed": "u.commits != '[]'", "narrated": "u.narrator IS NOT NULL",
        "failed": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.tests') IN ('failed', 0)",
        "reverted": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.reverted')",
        "abandoned": "json_valid(u.outcomes) AND json_extract(u.outcomes, '$.abandoned')",
        "offered": "EXISTS (SELECT 1 FROM unit_prompts x WHERE x.unit_id = u.id AND x.offered)",
    }  # fmt: skip

    def __init__(self, text: str = "") -> None:
        self.text = text.strip()

    def __bool__(self) -> bool:
        return bool(self.text)

    def where(self) -> tuple[str, list[object]]:
        """Conditions on u, t and p, and their bound values."""
        parts, values = [], list[object]()
        for typed in self.text.split():
            no = typed.startswith("!") and len(typed) > 1
            condition, bound = _condition(typed[1:] if no else typed)
            parts.append(f" AND {'NOT ' if no else ''}coalesce(({condition}), 0)")
            values += bound
        return "".join(parts), values


HITS = 20_000
"""At most so many hits of one word in the narratives count, newest first."""


_TEXTS = ("u.intent", "u.title", "u.agent_title", "u.heading", "t.title", "p.name")
"""What the list shows of an episode: the prompt, the name, and the thread and project that it stands under."""
_FILE = (
    "(json_valid(u.hot_files) AND EXISTS"
    " (SELECT 1 FROM json_each(u.hot_files) f WHERE f.value ->> 'path' LIKE ? ESCAPE '\\'))"
)
_TOLD = ("u.summary", "u.learned", "u.completed", "u.next_steps", "u.notes")


def _condition(word: str) -> tuple[str, list[object]]:
    kind, colon, value = word.partition(":")
    if not colon or not value or kind not in Filter.KINDS:
        return _words(word)
    if kind == "is":
        return next((sql for name, sql in Filter.STATES.items() if name.startswith(value.lower())), "0"), []
    if kind == "theme":
        what, bound = ("m.theme = ?", value) if value.isdecimal() else ("m.label LIKE ? ESCAPE '\\'", _like(value))
        return f"EXISTS (SELECT 1 FROM unit_themes m WHERE m.unit_id = u.id AND m.theme > 0 AND {what})", [bound]  # noqa: S608
    column = {"thread": "t.title", "project": "p.name", "file": "u.hot_files"}[kind]
    return f"{column} LIKE ? ESCAPE '\\'", [_like(value)]


def _words(word: str) -> tuple[str, list[object]]:
    """A word of the story: by the index of narratives, and as it stands in what the list shows, or in a file's path.

    What is written without blanks is one word to the index, so there the narrative itself is searched as well.
    """
    columns = _TEXTS if word.isascii() else (*_TEXTS, *_TOLD)
    hits = f"MATCH ? ORDER BY rowid DESC LIMIT {HITS}"
    found = f"u.id IN (SELECT rowid FROM narratives_fts WHERE narratives_fts {hits})"  # noqa: S608 -- our words
    word = word.replace("\0", "")
    quoted = '"' + word.replace('"', '""') + '"*'
    like = [f"{column} LIKE ? ESCAPE '\\'" for column in columns]
    return " OR ".join([found, *like, _FILE]), [quoted, *[_like(word)] * (len(columns) + 1)]


def _like(text: str) -> str:
    return "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
