"""Five linear classifiers of a tool call: phase, scope, locus, novelty, friction. Inference only.

calls.py     one call as the classifiers see it; what its command amounts to: commands.py, programs.py
reach.py     whether a step of a command leaves the machine; wishes.py: what a prompt asks for
features.py  the call, the last calls of its session (before.py) and the prompt, as short words
model.py     a table of words and weights; signed scores, and where they are too close to 0 to tell
labeller.py  labels rows as they are written, after those before them
"""

from __future__ import annotations

DIMENSIONS = ("phase", "scope", "locus", "novelty", "friction")
"""Columns of an observation, in the order of every five scores."""
WORDS = (("think", "act"), ("diverge", "converge"), ("internal", "external"), ("routine", "novel"),
         ("smooth", "friction"))  # fmt: skip
"""What -1 and +1 are called, by dimension."""
