"""A model's opinion on whether a thread continues an earlier one: `assess` of `nmem.threads.link`."""

from __future__ import annotations

import sqlite3
import threading

from nmem.llm.ask import Desk
from nmem.llm.backend import Cancel, Failure
from nmem.llm.linking_prompt import Pair, assess
from nmem.threads.link import Assessment, Question

_PATIENCE = 2


class Assessor:
    """Asks one question at a time, so that the day's cap holds; gives up after failures in a row. Never raises."""

    def __init__(self, desk: Desk, cancel: Cancel | None = None) -> None:
        self.desk = desk
        self.cancel = cancel or Cancel()
        self.failure: Failure | None = None
        self._in_a_row = 0
        self._turn = threading.Lock()

    def __call__(self, question: Question) -> Assessment | None:
        """The assessment, or None when there is none; then the algorithm decides alone."""
        with self._turn:
            if self._in_a_row >= _PATIENCE or self.cancel.is_set():
                return None
            try:
                answer = assess(self.desk, _pair(question), self.cancel).value
            except Failure as failure:
                self.failure = failure
                self._in_a_row += _PATIENCE if failure.kind == "cap" else 1
                return None
            except sqlite3.Error:
                self._in_a_row = _PATIENCE  # without its ledger nothing is asked
                return None
            self._in_a_row = 0
        return Assessment(answer.related, answer.confidence, answer.reasoning, answer.key_signals)


def _pair(question: Question) -> Pair:
    return Pair(
        question.earlier_summary, question.message, question.earlier_turns, question.earlier_files,
        question.gap_minutes,
    )  # fmt: skip
