"""Decisions written in a project's Markdown files, looked up by trigger or question: `/when` and `/how`.

A decision is a section of a markdown file in a decisions folder; an index names it by a trigger. One engine finds
entries for who asks (`resolve`), for who checks the index (`check`) and for who looks for a shorter name (`compress`).
What answers a hook or a cold `nmem when` uses the standard library alone, and of it only what is cheap to import.
"""

NAMES = "-names.bin"
"""The end of the names of the files in which the names of decisions are kept for hooks (nmem.recall.kept)."""
