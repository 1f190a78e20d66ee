"""The deck of redactions: one a card, real or a false alarm, one key an answer, and how many are left."""

from __future__ import annotations

from sqlite3 import Connection

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical

from nmem.audit import review
from nmem.audit.review import Review, Verdict
from nmem_tui import steering
from nmem_tui.model import secrets
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line, wrap
from nmem_tui.screens.base import View
from nmem_tui.widgets.card import Card, Panel

_READ = 20
"""Cards that are read at once."""
DRAWN = 20


class Secrets(View):
    """What redaction took out, or may have left; a person knows."""

    CONTEXT = "secrets"
    OPENS = "deck"

    card = getters.query_one("#question", Card)

    def __init__(self) -> None:
        super().__init__()
        self.cards: list[Review] = []
        self.place = self.left = self.answered = 0
        self._told: set[int] = set()
        """Answers whose effect is not read yet."""

    def body(self) -> ComposeResult:
        """The card, and below it the keys that answer."""
        with Vertical(id="deck"):
            yield Card(id="question")
            yield Panel(id="answers")

    def refresh_data(self) -> None:
        """Read what waits."""

        def work(db: Connection) -> tuple[tuple[Review, ...], int]:
            return review.queue(db, _READ + len(self._told)), review.waiting(db)

        self.reads.ask("deck", work, self._show)

    look_again = refresh_data

    def _show(self, found: tuple[tuple[Review, ...], int]) -> None:
        here = self.one.id if self.one else 0
        cards, waiting = found
        self._told &= {each.id for each in cards}
        self.cards = [each for each in cards if each.id not in self._told]
        self.left = waiting - len(self._told)
        places = [place for place, each in enumerate(self.cards) if each.id == here]
        self.place = places[0] if places else max(0, min(self.place, len(self.cards) - 1))
        self._draw()

    @property
    def one(self) -> Review | None:
        """The one on the card."""
        return self.cards[self.place] if self.place < len(self.cards) else None

    def _draw(self) -> None:
        one, left = self.one, self.left
        done = f"   {self.answered} judged" if self.answered else ""
        self.header.show(lambda _c: [(" nmem ▸ ", "quiet"), ("Redactions", "title"), (f"   {left} left{done}", "text")])
        if one is None:
            self.card.show(lambda cells, _rows: _nothing(cells, self.answered), "Redactions ─ nothing left")
            keys: Line = [(" d ", "key"), ("draws a sample    ", "text"), (" u ", "key"),
                          ("undo    ", "quiet"), (" esc ", "key"), ("back", "quiet")]  # fmt: skip
            self.query_one("#answers", Panel).show(lambda _c, _r: [keys])
        else:
            name = f"Redaction {one.id} ─ {several(left, 'card')} left"
            self.card.show(lambda cells, rows: secrets.card(one, cells, rows), name)
            self.query_one("#answers", Panel).show(lambda cells, _r: secrets.answers(one, cells))
        self.check_keys()

    def nothing_yet(self) -> None:
        """Nothing is recorded at all."""
        self.cards = []
        self._draw()

    # What the keys do

    def may_real(self) -> str | None:
        """Only a card can be judged."""
        return None if self.one else "nothing is left to judge"

    may_false_alarm = may_later = may_before = may_real

    def do_real(self) -> None:
        """It was a secret."""
        self._judge("real")

    def do_false_alarm(self) -> None:
        """It was none."""
        self._judge("false")

    def _judge(self, verdict: Verdict) -> None:
        one = self.one
        if one is None:
            return
        self.cockpit.change(steering.judge(one.id, verdict))
        self.answered += 1
        self._told.add(one.id)
        del self.cards[self.place]
        self.left -= 1
        self.place = max(0, min(self.place, len(self.cards) - 1))
        self._draw()

    def do_later(self) -> None:
        """The next card."""
        self.place = (self.place + 1) % len(self.cards)
        self._draw()

    def do_before(self) -> None:
        """The card before."""
        self.place = (self.place - 1) % len(self.cards)
        self._draw()

    def do_draw(self) -> None:
        """Another sample."""
        self.cockpit.change(steering.draw(DRAWN))

    def do_back(self) -> None:
        """Leave the deck."""
        self.dismiss()


def _nothing(cells: int, answered: int) -> list[Line]:
    said = f"✓ all judged: {several(answered, 'redaction')}" if answered else "✓ nothing waits to be judged"
    why = ("A sample of what was redacted is judged here: the secrets are gone, what stood around them tells. From five"
           " verdicts of a kind on the audit says when most were false alarms.")  # fmt: skip
    return [[(said, "good")], [], *([(row, "quiet")] for row in wrap(why, cells, 4))]
