"""[episodes]: read by nmem.episodes.config, on the hook's path."""

from __future__ import annotations

from nmem.settings.setting import CHOICE, Setting

SETTINGS = (
    Setting(
        "episodes.method", CHOICE, "default",
        "how prompts are divided into episodes: fitted weights, or the plain rule of keyword bags",
        choices=("default", "jaccard"),
    ),
)  # fmt: skip
