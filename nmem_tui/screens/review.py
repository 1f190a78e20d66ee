"""The review deck: boundaries, links, learnings, labels, redactions; a card per question, a key per answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from sqlite3 import Connection

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from nmem import queues as reading
from nmem.audit.review import Review as Redaction
from nmem.labels.read import Doubt
from nmem.learn.learning import Learning
from nmem.queues import BOUNDARIES, LABELS, LEARNINGS, LINKS, QUEUES, REDACTIONS, Queues
from nmem.queues import Card as Question
from nmem.read.episode_store import Link
from nmem.read.stories import Offer
from nmem_tui.model import actions, review
from nmem_tui.model.figures import several
from nmem_tui.model.locations import Asked
from nmem_tui.operations import commands
from nmem_tui.screens.base import View
from nmem_tui.store.access import Change
from nmem_tui.widgets.drawn import Card
from nmem_tui.widgets.option_bar import OptionBar, Way

_EVERY_S = 0.5
"""The questions are read again at most this often."""
_SAMPLE = 20
"""Redactions that are drawn at once."""
_DAY_MS = 86_400_000
Key = tuple[str, int]


class Review(View):
    """What the program is not sure of, and a person is."""

    CONTEXT = "review"
    OPENS = "deck"

    card = getters.query_one("#question", Card)

    def __init__(self, links: Sequence[Link] = (), queue: str = "", at: Key | None = None) -> None:
        super().__init__()
        self._at = at
        """The question to begin with."""
        self._only: set[int] | None = {link.id for link in links} or None
        """Where given, only these links are asked about."""
        self.queue = LINKS if links else queue
        """The one whose questions are asked; empty until it is known which has some."""
        self.cards: dict[str, list[Question]] = {name: [] for name in QUEUES}
        self.left: dict[str, int] = {}
        self.place = 0
        self.asked = reading.DRAWN
        """Of so many calls the labels are asked about."""
        self.lit = at is not None
        """Whether the card has the keyboard, as can be seen: only then a letter answers. One that came back has it."""
        self._given: list[Key] = []
        """What was answered here, the newest last."""
        self._under_way: list[Key] = []
        """Answers whose effect is not read yet."""

    def body(self) -> ComposeResult:
        """The queues, the card, and below it the keys that answer."""
        yield OptionBar(id="queues")
        with Vertical(id="deck"):
            yield Card(id="question")
            yield OptionBar(id="answers")

    # What is read

    def refresh_data(self) -> None:
        self.catch_up_soon(_EVERY_S, self._read, shown=bool(self.left))

    def look_again(self) -> None:
        """The oldest answer under way was carried out, or could not be; or something was taken back."""
        if self._under_way:
            self._under_way.pop(0)
        self.reads.forget("deck")  # what was read before does not know of it
        self._read()

    def _read(self) -> None:
        path, at, asked, only = self.cockpit.db_path, self.cockpit.clock(), self.asked, self._only

        def work(db: Connection) -> Queues:
            return reading.queues(db, path, at, asked, only)

        self.reads.ask("deck", work, self._show)

    def _show(self, found: Queues) -> None:
        here, self._at = self._at or (review.key(self.question) if self.question else None), None
        for name in QUEUES:
            cards = [one for one in found.cards.get(name, ()) if review.key(one) not in self._under_way]
            hidden = len(found.cards.get(name, ())) - len(cards)
            self.cards[name], self.left[name] = cards, found.counts.get(name, 0) - hidden
        self._narrow()
        back = self._taken_back()
        if back is not None:
            self.queue, here = back[0], back
        if not self.queue:
            self.queue = next((name for name in QUEUES if self.cards[name]), BOUNDARIES)
        places = [place for place, one in enumerate(self.cards[self.queue]) if review.key(one) == here]
        self.place = places[0] if places else max(0, min(self.place, len(self.cards[self.queue]) - 1))
        self._draw()

    def _narrow(self) -> None:
        """Only what was asked for: some links; as many calls as were drawn and are not answered."""
        if self._only is not None:
            self.cards = {name: [] for name in QUEUES} | {LINKS: self.cards[LINKS]}
            self.left = {name: len(cards) for name, cards in self.cards.items()}
        shown = {review.key(one) for one in self.cards[LABELS]}
        answered = [key for key in self._given if key[0] == LABELS and key not in shown]
        del self.cards[LABELS][max(0, self.asked - len(answered)) :]
        self.left[LABELS] = len(self.cards[LABELS])

    def _taken_back(self) -> Key | None:
        """The newest answer whose question is there again: it was undone, or could not be given."""
        known = {review.key(one) for cards in self.cards.values() for one in cards}
        back = [key for key in self._given if key in known]
        self._given = [key for key in self._given if key not in known]
        return back[-1] if back else None

    @property
    def question(self) -> Question | None:
        """The one on the card."""
        cards = self.cards.get(self.queue, [])
        return cards[self.place] if self.place < len(cards) else None

    def _draw(self) -> None:
        one, left, at, zone = self.question, sum(self.left.values()), self.cockpit.clock(), self.cockpit.zone
        done = f"   {len(self._given)} answered" if self._given else ""
        self.header.show(lambda _c: [(" nmem ▸ ", "quiet"), ("Review", "title"), (f"   {left} left{done}", "text")])
        names = [name for name in QUEUES if self._only is None or name == LINKS]
        self.query_one("#queues", OptionBar).tell([
            Way(str(QUEUES.index(name) + 1), f"{review.WORDS[name]} {self.left.get(name, 0)}", name == self.queue,
                "text" if self.left.get(name) else "quiet") for name in names
        ])  # fmt: skip
        tone = "text" if self.lit else "off"
        answers = [Way(key, label, tone=tone) for key, label in (review.answers(one) if one else ())]
        if one and not self.lit:
            answers.insert(0, Way("enter", "to answer", True))
        self.card.set_class(self.lit, "-lit")
        others = [Way("j", "later", tone="quiet")] if one else []
        if self.queue in (LABELS, REDACTIONS):
            others.append(Way("d", "draws more", tone="quiet"))
        back = [Way("u", "takes the last answer back", tone="quiet"), Way("escape", "back", tone="quiet", mark="esc")]
        self.query_one("#answers", OptionBar).tell([*answers, *others, *back])
        if one is None:
            queue, counts, given = self.queue or BOUNDARIES, dict(self.left), len(self._given)
            self.card.show(
                lambda cells, _rows: review.nothing(queue, counts, given, cells),
                f"{review.WORDS[queue].capitalize()} ─ nothing left",
            )
        else:
            name = f"{review.title(one)} ─ {self.place + 1} of {several(self.left[self.queue], 'question')}"
            self.card.show(lambda cells, rows: review.card(one, cells, rows, at, zone), name)
        self.card.border_subtitle = Content(
            "" if self.may_read() or not self.lit else f"{actions.key_of('read')} reads the whole of it"
        )
        self.check_keys()

    def nothing_yet(self) -> None:
        self.cards = {name: [] for name in QUEUES}
        self._draw()

    # What the keys do

    @on(OptionBar.Taken)
    def take_clicked(self, message: OptionBar.Taken) -> None:
        """A queue or an answer was clicked."""
        clicked = {"y": "yes", "n": "no", "z": "snooze", "R": "resolved", "j": "later", "d": "draw", "u": "undo",
                   "escape": "back"}  # fmt: skip
        self.light(on=True)
        if message.key.isdecimal():
            self._turn(QUEUES[int(message.key) - 1])
        elif message.key in clicked:
            self.cockpit.action_act(clicked[message.key])

    def light(self, *, on: bool) -> None:
        """Give the card the keyboard, or take it away."""
        if self.lit != on:
            self.lit = on
            self._draw()

    def on_key(self) -> None:
        """A key that means nothing here was meant for somewhere else, and what is typed after it may be as well."""
        self.light(on=False)

    def look_away(self) -> None:
        """What is typed next may be meant for another window."""
        self.light(on=False)

    def _answers(self) -> str | None:
        if self.question is None:
            return f"no question is left here: {actions.key_of('next_queue')} goes to the next queue"
        return None if self.lit else f"{actions.key_of('read')} gives the question the keyboard first"

    def may_yes(self) -> str | None:
        """Only a question that has the keyboard can be answered."""
        return self._answers()

    may_no = may_yes

    def may_later(self) -> str | None:
        """Only a question can be left."""
        return None if self.question else self._answers()

    may_before = may_later

    def may_snooze(self) -> str | None:
        """Only a learning can rest, or be over."""
        if not isinstance(self.question, Learning):
            return "only a learning can be snoozed or resolved"
        return self._answers()

    may_resolved = may_snooze

    def may_draw(self) -> str | None:
        """Only of what there is always more."""
        drawn = self.queue in (LABELS, REDACTIONS)
        return None if drawn else "only labels and redactions are drawn: here the next question follows an answer"

    def may_read(self) -> str | None:
        """Only what stands somewhere else in full; before that the key gives the card the keyboard."""
        if self.question and not self.lit:
            return None
        if isinstance(self.question, Link) and (self._only is not None or not self.question.unit_id):
            return "the thread of these links is behind this: esc goes there"
        return "the text is here in full" if isinstance(self.question, Redaction) else self.may_later()

    def do_yes(self) -> None:
        """A new task begins here; one line of work; a rule; what the model leans to; a secret."""
        one = self.question
        if isinstance(one, Offer):
            self._answer(commands.split(one.unit_id, one.prompt_id))
        elif isinstance(one, Link):
            self._answer(commands.link(one.id, True))
        elif isinstance(one, Learning):
            self._accept(one)
        elif isinstance(one, Doubt):
            self._answer(commands.relabel(one.call.id, one.word.dimension, one.word.thinks))
        elif isinstance(one, Redaction):
            self._answer(commands.judge(one.id, "real"))

    def do_no(self) -> None:
        """It belongs to the task before; two things; nothing to learn; the other word; a false alarm."""
        one = self.question
        if isinstance(one, Offer):
            self._answer(commands.belongs(one.prompt_id))
        elif isinstance(one, Link):
            self._answer(commands.link(one.id, False))
        elif isinstance(one, Learning):
            self._answer(commands.mark_learning(one.id, "dismissed"))
        elif isinstance(one, Doubt):
            self._answer(commands.relabel(one.call.id, one.word.dimension, review.other(one)))
        elif isinstance(one, Redaction):
            self._answer(commands.judge(one.id, "false"))

    def _accept(self, one: Learning) -> None:
        """See the rule and the file that it goes into first."""
        from nmem.learn.accept import Plan  # on use: start-up stays short
        from nmem_tui.screens.diff_dialog import Accept

        def take(planned: Plan | None) -> None:
            if planned is not None and self._still(one):
                self._answer(commands.accept(planned))

        self.app.push_screen(Accept(one.id, self.cockpit.clock()), take)

    def do_snooze(self) -> None:
        from nmem_tui.screens.diff_dialog import Snooze  # on use: start-up stays short

        one = self.question

        def take(words: str | None) -> None:
            if words and isinstance(one, Learning) and self._still(one):
                self._answer(commands.snooze(one.id, Snooze.SPANS[words] * _DAY_MS, words))

        self.app.push_screen(Snooze(), take)

    def _still(self, one: Question) -> bool:
        """Whether what a dialog was opened for is still asked; each commit beside reads the deck as other objects."""
        if self.question is not None and review.key(self.question) == review.key(one):
            return True
        self.cockpit.say("this question was answered elsewhere in the meantime: nothing changed", severity="warning")
        return False

    def do_resolved(self) -> None:
        if isinstance(self.question, Learning):
            self._answer(commands.mark_learning(self.question.id, "resolved"))

    def _answer(self, change: Change) -> None:
        """Carry it out, and go on; where the queue is empty, with the next one."""
        one = self.question
        assert one is not None
        self.cockpit.change(change)
        self._given.append(review.key(one))
        self._under_way.append(review.key(one))
        del self.cards[self.queue][self.place]
        self.left[self.queue] -= 1
        self.place = max(0, min(self.place, len(self.cards[self.queue]) - 1))
        if not self.left[self.queue]:
            self.queue, self.place = self._next(1, waiting=True), 0
        self._draw()

    def _next(self, by: int, *, waiting: bool) -> str:
        at = QUEUES.index(self.queue)
        order = [QUEUES[(at + by * step) % len(QUEUES)] for step in range(1, len(QUEUES))]
        return next((name for name in order if self.cards[name]), self.queue if waiting else order[0])

    def _turn(self, queue: str) -> None:
        if self._only is not None:
            self.cockpit.say("only links of this thread are reviewed here: esc leaves", severity="warning")
            return
        self.queue, self.place, self.lit = queue, 0, True
        self._draw()

    def do_next_queue(self) -> None:
        self._turn(self._next(1, waiting=False))

    def do_last_queue(self) -> None:
        self._turn(self._next(-1, waiting=False))

    def do_queue_boundaries(self) -> None:
        self._turn(BOUNDARIES)

    def do_queue_links(self) -> None:
        self._turn(LINKS)

    def do_queue_learnings(self) -> None:
        self._turn(LEARNINGS)

    def do_queue_labels(self) -> None:
        self._turn(LABELS)

    def do_queue_redactions(self) -> None:
        self._turn(REDACTIONS)

    def do_later(self) -> None:
        self._step(1)

    def do_before(self) -> None:
        self._step(-1)

    def _step(self, by: int) -> None:
        self.place = (self.place + by) % len(self.cards[self.queue])
        self._draw()

    def do_draw(self) -> None:
        if self.queue == LABELS:
            self.asked += reading.DRAWN
            self._read()
        else:
            self.cockpit.change(commands.draw(_SAMPLE))

    def do_read(self) -> None:
        one, app = self.question, self.cockpit
        assert one is not None
        if not self.lit:
            self.light(on=True)
            return
        asked = Asked(self.queue, review.key(one))
        self.dismiss()
        if isinstance(one, Offer | Link):
            app.call_later(app.read_for, asked, partial(app.show_episode, one.unit_id))
        elif isinstance(one, Learning):
            app.call_later(app.read_for, asked, partial(app.show_learning, one.id))
        elif isinstance(one, Doubt):
            row = (one.call.session_id, one.call.at, one.call.id * 2 + 1)
            app.call_later(app.read_for, asked, partial(app.show_moment, *row))

    def do_back(self) -> None:
        self.dismiss()
