"""[recall]: read by nmem.recall.config."""

from __future__ import annotations

from nmem.settings.setting import FLAG, TEXT, TEXTS, Setting

SETTINGS = (
    Setting("recall.folders", TEXTS, (), "folders of decisions in a project, looked for before the usual ones"),
    Setting("recall.index", TEXT, "", "the index of decisions in a project; empty: memory-index.md where there is one"),
    Setting(
        "recall.offer", FLAG, True, "whether sessions are told unasked which decisions their prompts and failures name"
    ),
)
