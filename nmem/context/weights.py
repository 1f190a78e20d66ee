"""The weights of ranking: a bias, then one for each of rank.FEATURES, all of these in 0..1. On the hook's path.

Fitted by `python -m nmem.training.context` and rounded; leaving a project out moves a weight by about .5.
"""

from __future__ import annotations

PROMPT = (-5.0, 3.5, 1.5, 1.1, 1.3, 0.3, 0.2, 1.7)
"""Where there is a prompt."""
START = (-4.3, 0.0, 0.0, 0.0, 1.3, 0.4, 0.8, 1.8)
"""Where a session starts, and nothing is asked yet."""
