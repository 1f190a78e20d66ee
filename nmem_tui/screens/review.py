"""The review deck: one open question a card, one key an answer, and how many are left."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from textual import getters
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from nmem.read import stories as story_views
from nmem.read.stories import Deck, Offer
from nmem.read.threads import Link
from nmem_tui import steering
from nmem_tui.model import review
from nmem_tui.model.figures import several
from nmem_tui.model.line import Line
from nmem_tui.model.review import Question
from nmem_tui.screens.base import View
from nmem_tui.widgets.card import Card, Panel


class Review(View):
    """What the program is not sure of, and a person is."""

    CONTEXT = "review"
    OPENS = "deck"

    card = getters.query_one("#question", Card)

    def __init__(self, links: Sequence[Link] = ()) -> None:
        super().__init__()
        self._only: set[int] | None = {link.id for link in links} or None
        """Where given, only these links are asked about."""
        self.questions: list[Question] = []
        self.place = 0
        self.answered = 0
        self._told: set[tuple[str, int]] = set()
        """Answers whose effect is not read yet."""

    def body(self) -> ComposeResult:
        """The card, and below it the keys that answer."""
        with Vertical(id="deck"):
            yield Card(id="question")
            yield Panel(id="answers")

    def refresh_data(self) -> None:
        """Read the open questions."""
        self.reads.ask("deck", story_views.deck, self._show)

    def _show(self, deck: Deck) -> None:
        here = self.key(self.question) if self.question else None
        links = [link for link in deck.links if self._only is None or link.id in self._only]
        self.questions = [*([] if self._only is not None else deck.offers), *links]
        keys = [self.key(each) for each in self.questions]
        self._told &= set(keys)
        self.questions = [each for each in self.questions if self.key(each) not in self._told]
        places = [place for place, each in enumerate(self.questions) if self.key(each) == here]
        self.place = places[0] if places else max(0, min(self.place, len(self.questions) - 1))
        self._draw()

    @staticmethod
    def key(question: Question) -> tuple[str, int]:
        """What tells questions apart."""
        return ("prompt", question.prompt_id) if isinstance(question, Offer) else ("link", question.id)

    @property
    def question(self) -> Question | None:
        """The one on the card."""
        return self.questions[self.place] if self.place < len(self.questions) else None

    def _draw(self) -> None:
        question, left, zone = self.question, len(self.questions), self.cockpit.zone
        done = f"   {self.answered} answered" if self.answered else ""
        self.header.show(lambda _c: [(" nmem ▸ ", "quiet"), ("Review", "title"), (f"   {left} left{done}", "text")])
        if question is None:
            self.card.show(lambda cells, _rows: _nothing(cells, self.answered), "Review ─ nothing left")
            self.query_one("#answers", Panel).show(lambda _c, _r: [[(" esc ", "key"), ("back", "quiet")]])
        else:
            name = f"{review.title(question)} ─ {self.place + 1} of {several(left, 'question')}"
            self.card.show(lambda cells, rows: review.card(question, cells, rows, zone), name)
            self.query_one("#answers", Panel).show(lambda cells, _r: review.answers(question, cells))
        self.card.border_subtitle = Content("enter reads the whole story" if isinstance(question, Offer) else "")
        self.check_keys()

    def nothing_yet(self) -> None:
        """Nothing is recorded at all."""
        self.questions = []
        self._draw()

    # What the keys do

    def may_yes(self) -> str | None:
        """Only a question can be answered."""
        return None if self.question else "no question is left"

    may_no = may_yes
    may_later = may_yes
    may_before = may_yes

    def may_read(self) -> str | None:
        """Only a prompt is in one episode."""
        asked = isinstance(self.question, Offer)
        return None if asked else "a link has no story of its own: 2 shows those of both threads"

    def do_yes(self) -> None:
        """A new task begins here; one line of work."""
        self._answer(yes=True)

    def do_no(self) -> None:
        """It belongs to the task before; two different things."""
        self._answer(yes=False)

    def _answer(self, *, yes: bool) -> None:
        question = self.question
        if question is None:
            return
        if isinstance(question, Offer):
            answer = (
                steering.split(question.unit_id, question.prompt_id) if yes else steering.belongs(question.prompt_id)
            )
            change = answer
        else:
            change = steering.link(question.id, yes)
        self.cockpit.change(change)
        self.answered += 1
        self._told.add(self.key(question))
        del self.questions[self.place]
        self.place = max(0, min(self.place, len(self.questions) - 1))
        self._draw()

    def do_later(self) -> None:
        """The next question."""
        self.place = (self.place + 1) % len(self.questions)
        self._draw()

    def do_before(self) -> None:
        """The question before."""
        self.place = (self.place - 1) % len(self.questions)
        self._draw()

    def do_read(self) -> None:
        """The story that the question is about."""
        question = self.question
        if isinstance(question, Offer):
            self.dismiss()
            self.cockpit.call_later(self.cockpit.show_episode, question.unit_id)

    def do_back(self) -> None:
        """Leave the deck."""
        self.dismiss()


def _nothing(cells: int, answered: int, zone: tzinfo | None = None) -> list[Line]:
    del cells, zone
    said = f"✓ all answered: {several(answered, 'question')}" if answered else "✓ nothing is unclear"
    return [
        [(said, "good")], [],
        [("Where a task nearly changed, or two threads look alike without being certain, it is asked here.", "quiet")],
        [("A wrong cut costs more than a missed one: what is unsure is never cut without you.", "quiet")],
    ]  # fmt: skip
