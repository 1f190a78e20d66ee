"""The base of the screen Search: its box and last queries, filters, where a hit leads, pins, marks, purge."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from textual import on
from textual.app import SuspendNotSupported
from textual.widgets import Input

from capture.files import regular
from nmem.ask import hits as questions
from nmem.errors import NmemError
from nmem.search import decisions, kinds
from nmem.search.decisions import Decision
from nmem.search.query import toggled
from nmem.search.search import Hit
from nmem.text import printable
from nmem_tui import output
from nmem_tui.model import actions, search
from nmem_tui.model import search_queries as reading
from nmem_tui.model.search_queries import Shown
from nmem_tui.operations import commands
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.store.access import Change
from nmem_tui.widgets.chips import Chips
from nmem_tui.widgets.drawn import Frame
from nmem_tui.widgets.inputs import Field
from nmem_tui.widgets.item_lists import Hits, Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.screens.host import Host

_MOST = 1_000_000
"""Bytes of a file that a copy has."""
_PLUS = ("vi", "vim", "nvim", "view", "gvim", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe", "ne", "mg")
_COLON = ("hx", "helix", "subl", "zed", "mate")
_GOTO = ("code", "code-insiders", "codium", "cursor", "windsurf")


def words(editor: list[str], path: str, line: int) -> list[str]:
    """The editor's words that open a file at a line, as it is known to take them; else the file alone."""
    name = editor[0].replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    if line > 0 and name in _PLUS:
        return [*editor, f"+{line}", path]
    if line > 0 and name in _COLON:
        return [*editor, f"{path}:{line}"]
    return [*editor, "-g", f"{path}:{line}"] if line > 0 and name in _GOTO else [*editor, path]


def open_file(app: Host, path: str, line: int) -> None:
    """Open it, and come back when the editor ends; a cockpit that only reads opens a copy."""
    if app.read_only:
        _open_copy(app, path)
        return
    try:
        own = output.words(app.environ)
        with app.suspend(), output.uninterrupted():
            done = subprocess.run(words(own, path, line), env=dict(app.environ), check=False)
    except (NmemError, SuspendNotSupported):
        app.copy_out(f"{path}:{line}")
        return
    except OSError as error:
        app.say(f"{printable(own[0])} cannot be used: {error.strerror or error}", severity="warning")
        return
    app.refresh(layout=True)
    if done.returncode:
        app.say(f"{printable(own[0])} exited with {done.returncode}", severity="warning")


def _open_copy(app: Host, path: str) -> None:
    try:
        with open(path, "rb", opener=regular) as file:
            text = file.read(_MOST).decode("utf-8", "replace")
    except OSError as error:
        app.say(f"{printable(path)} cannot be read: {error.strerror or error}", severity="warning")
        return
    app.edit_out(text)


_NOTHING = "no hit here"
_LONGEST = 2_000
"""A query has at most so many characters."""


class SearchActions(ListScreen):
    """The part of the screen Search that is typed into, moves, opens, pins and copies."""

    CONTEXT = "search"
    OPENS = "search"
    ALONE = frozenset({"copy_id"})
    TOGETHER = frozenset({"pin_hit", "purge"})

    def __init__(self) -> None:
        super().__init__()
        self.box = Field(id="box", placeholder='words, "a phrase", !not, type:test file:upload is:failed since:7d',
                         compact=True, max_length=_LONGEST, select_on_focus=False)  # fmt: skip
        self._back = -1
        """Which of the last queries is in the box, the newest being 0; -1: none of them."""
        self._dropped = ""
        """What is in the box but not to be offered again: it was there when something was purged."""
        self.chips = Chips(id="chips")
        self.index: Hits = Hits(id="hits")
        self.pane: Items = Items(id="hit")
        self.guide = Items(id="guide")
        self.over = self.side = Frame(id="preview")
        self.hits: list[Hit] = []
        self.shown: Shown | None = None
        """The hit under the cursor in full, once it is read."""
        self.newest = False

    def look(self) -> None:
        """Look for what stands in the box, at once."""
        raise NotImplementedError

    def further(self) -> None:
        """Read the page after the last hit, if there is one."""
        raise NotImplementedError

    @property
    def one(self) -> Hit | None:
        """The hit under the cursor."""
        place = self.index.hit
        return self.hits[place] if self.asking and 0 <= place < len(self.hits) else None

    @property
    def known(self) -> Shown | None:
        """The hit under the cursor in full; None until it is read."""
        found, one = self.shown, self.one
        return found if found and one and found.hit.id == one.id else None

    @property
    def active(self) -> Lines:
        """Where the keyboard is, or goes."""
        if self.pane.has_focus:
            return self.pane
        return self.index if self.asking else self.guide

    @property
    def home(self) -> None:
        """The keyboard goes to the box, never by itself to the list."""
        return None

    @property
    def clickable(self) -> tuple[Lines, ...]:
        """Hits, and examples."""
        return self.index, self.guide

    # The box

    @property
    def asking(self) -> bool:
        """Whether something stands in the box."""
        return bool(questions.subject(self.box.value))

    def do_seek(self) -> None:
        self.uncover()
        self.set_focus(self.box)

    def do_question(self) -> None:
        self.do_seek()
        self.put(self.box.value if self.asked_for else f"{questions.SIGN} ")

    @property
    def asked_for(self) -> bool:
        """Whether a question stands in the box, or begins there."""
        return questions.asks(self.box.value)

    def arrive(self) -> None:
        """The box has the keyboard, its query is selected: what is typed replaces it."""
        if self.is_mounted and self.recorded:
            self.do_seek()
            self.box.select_all()

    def do_down(self) -> None:
        """One hit down; out of the box into the list, or to a later one of the last queries."""
        if self.box.has_focus:
            if self._back >= 0:
                self._recall(self._back - 1)
            else:
                self.set_focus(self.active)
        elif self.chips.has_focus:
            if not self.chips.change_row(1):
                self.set_focus(self.active)
        else:
            super().do_down()

    def do_up(self) -> None:
        """One hit up; in the empty box the last queries, in the list's first row the box."""
        if self.box.has_focus:
            if not self.asking or self._back >= 0:
                self._recall(self._back + 1)
        elif self.chips.has_focus:
            if not self.chips.change_row(-1):
                self.set_focus(self.box)
        elif self.active.cursor <= 0 and not self.pane.has_focus:
            self.set_focus(self.box)
        else:
            super().do_up()

    def _recall(self, place: int) -> None:
        asked = self.cockpit.asked
        if place < len(asked):
            self.put(asked[place] if place >= 0 else "")
            self._back = max(-1, place)

    def put(self, text: str) -> None:
        """Have this in the box, and look for it."""
        self.box.value = text
        self.box.cursor_position = len(text)
        self.look()

    @on(Input.Submitted, "#box")
    def keep(self) -> None:
        """What was typed is worth remembering; the hits get the keyboard."""
        self.remember()
        self.look()
        self.set_focus(self.active)

    def forget_asked(self) -> None:
        """Offer no last query any more, nor what is in the box: any may have the words that were purged."""
        self._dropped = self.box.value.strip()
        self.cockpit.asked.clear()
        if self.is_mounted and not self.asking:
            self.look()

    def remember(self) -> None:
        """Keep the query among the last ones."""
        self._back = -1
        text, asked = self.box.value.strip(), self.cockpit.asked
        if text and text != self._dropped:
            asked[:] = [text, *(each for each in asked if each != text)][:50]

    # The chips

    def do_chips(self) -> None:
        self.set_focus(self.active if self.chips.has_focus else self.chips)
        self.check_keys()

    def may_left(self) -> str | None:
        """Only in the chips."""
        return None if self.chips.has_focus else f"{actions.key_of('chips')} goes to the filters first"

    may_right = may_left

    def do_left(self) -> None:
        self.chips.step(-1)

    def do_right(self) -> None:
        self.chips.step(1)

    def may_mark(self) -> str | None:
        """A hit; or a chip, which is put in or taken out."""
        if self.chips.has_focus:
            return None if self.chips.chip else "there is no filter here"
        return super().may_mark()

    def do_mark(self) -> None:
        if not self.chips.has_focus:
            super().do_mark()
        elif chip := self.chips.chip:
            self._toggle(chip.filter)

    @on(Chips.Toggled)
    def toggle_clicked(self, message: Chips.Toggled) -> None:
        """A chip was clicked."""
        self._toggle(message.filter)

    def _toggle(self, one: str) -> None:
        self.put(toggled(self.box.value, one))

    def may_order(self) -> str | None:
        """Only hits have an order."""
        return None if self.asking else "type a query first: only hits are sorted"

    def do_order(self) -> None:
        self.newest = not self.newest
        self.look()

    def do_again(self) -> None:
        self.look()

    def do_manual(self) -> None:
        """All that can be typed; one that is taken goes into the box."""
        from nmem_tui.screens.prompt_dialogs import Manual  # on use: start-up stays short

        self.app.push_screen(Manual(), self._take)

    def _take(self, one: str | None) -> None:
        if one and one.startswith(questions.SIGN):
            self.put(one)
            self.set_focus(self.box)
        elif one:
            text = self.box.value.strip()
            self.put(toggled(text, one) if ":" in one and not one.endswith(":") else f"{text} {one}".strip())
            self.set_focus(self.box)

    # Where a hit leads

    def do_bottom(self) -> None:
        super().do_bottom()
        self.further()

    def may_open(self) -> str | None:
        """A chip, an example, a hit."""
        if self.chips.has_focus:
            return self.may_mark()
        if not self.asking:
            item = self.guide.item
            return None if item and item.kind == search.QUERY else "type a query"
        return None if self.one else _NOTHING

    def do_open(self) -> None:
        """Take the chip or the example; look at the hit where that is not shown yet, else go to it."""
        if self.chips.has_focus:
            self.do_mark()
        elif not self.asking:
            if item := self.guide.item:
                self.put(item.key)
                self.remember()
                self.set_focus(self.index)
        elif self.has_class("-narrow") and not self.pane.has_focus:
            self.side.add_class("-open")
            self.set_focus(self.pane)
            self.preview()
        else:
            self.do_go()
        self.check_keys()

    def preview(self) -> None:
        """Read the hit under the cursor in full."""
        raise NotImplementedError

    def may_go(self) -> str | None:
        """A hit that is still there."""
        if self.one is None:
            return _NOTHING
        return "it no longer exists" if self.known and self.known.thing is None else None

    def do_go(self) -> None:
        one, app = self.one, self.cockpit
        if one is None:
            return
        self.remember()
        if one.kind == kinds.EPISODE or (self.asked_for and one.episode):
            app.show_episode(one.episode or reading.number(one))
        elif one.kind == kinds.LEARNING:
            app.show_learning(reading.number(one))
        elif one.kind == kinds.SESSION:
            app.show_session(one.id.partition("/")[2])
        elif one.kind == kinds.TASK:
            app.show_task(reading.number(one))
        elif isinstance(thing := self.known and self.known.thing, Decision):
            open_file(app, thing.path, thing.line)
        elif reading.is_moment(one):
            app.show_moment(one.session_id, one.at, reading.key(one))

    def may_story(self) -> str | None:
        """Only what is in an episode has a story."""
        if self.one is None:
            return _NOTHING
        if self.known is None:
            return "it is still loading"
        return None if reading.episode_of(self.known) else "it belongs to no episode"

    def do_story(self) -> None:
        self.remember()
        self.cockpit.show_episode(reading.episode_of(self.known))

    # What a person does with it

    def may_pin_hit(self) -> str | None:
        """Not everything can be pinned."""
        if self.marked:
            return None if self._pinnable() else "none of the marked rows can be pinned"
        if self.one is None:
            return _NOTHING
        return search.unpinned(self.one)

    def _pinnable(self) -> list[Hit]:
        """The marked hits that can be pinned."""
        return [hit for hit in self.hits if hit.id in self.marked and not search.unpinned(hit)]

    def do_pin_hit(self) -> None:
        """Pin it, or take its pin away; of several all are pinned, or none where all are."""
        if self.marked:
            hits = self._pinnable()
            pinned = not all(hit.pinned for hit in hits)
            changes = [_pin(hit, pinned=pinned) for hit in hits if hit.pinned != pinned]
            self.cockpit.change(commands.each(changes, "pinned" if pinned else "no longer pinned"))
            self.unmark()
        elif one := self.one:
            self.cockpit.change(_pin(one, pinned=not one.pinned))

    def may_pin_everywhere(self) -> str | None:
        """One hit at a time: what is told in every project is chosen with care."""
        return "only one at a time: clear the marks" if self.marked else self.may_pin_hit()

    def do_pin_everywhere(self) -> None:
        """Pin it and tell it in every project, or in its own alone."""
        if one := self.one:
            kind, _, number = one.id.partition("/")
            self.cockpit.change(commands.pin_everywhere(kind, int(number)))

    def may_purge(self) -> str | None:
        """Only a hit that is still there, and is recorded: a decision is a file of the person's own."""
        if self.one is None:
            return _NOTHING
        if self.marked and not self._purgeable():
            return "decisions are project files: purging does not touch them"
        if self.one.kind == decisions.KIND and not self.marked:
            return "a decision is a project file: purging does not touch it"
        return "it no longer exists" if self.known and self.known.thing is None else None

    def do_purge(self) -> None:
        """See what goes with the hit, or with what it lies in, then let it go."""
        if ids := self._purgeable():
            self.purge(ids)
        elif self.one and not self.marked:
            self.purge([search.whole_id(self.one)])

    def _purgeable(self) -> list[str]:
        """The marked hits, but decisions."""
        return [search.whole_id(hit) for hit in self.hits if hit.id in self.marked and hit.kind != decisions.KIND]

    def may_copy(self) -> str | None:
        """Only a hit."""
        return None if self.one else _NOTHING

    def do_back(self) -> None:
        """Out of what lies over the list, out of the box, out of the query."""
        if self.pane.has_focus or self.chips.has_focus:
            self.uncover()
        elif self.box.has_focus:
            self._back = -1
            self.set_focus(self.active)
        elif self.unmark():
            return
        elif self.asking:
            self.remember()
            self.put("")
            self.set_focus(self.guide)  # not into the box: whoever goes on by a key would type it
        self.check_keys()

    def uncover(self) -> None:
        """Back to the list out of what lies over it, or of the chips."""
        self.side.remove_class("-open")
        self.set_focus(self.active if not self.pane.has_focus else self.index if self.asking else self.guide)

    # The marks, the way back

    @property
    def row_key(self) -> str | None:
        return self.one.id if self.one and self.index.has_focus else None

    def row_keys(self) -> list[str]:
        return [hit.id for hit in self.hits] if self.asking else []

    def spot(self) -> tuple[str, str]:
        """The query, and the hit under the cursor."""
        return self.box.value.strip(), self.one.id if self.one else ""

    def return_to(self, place: tuple[str, str]) -> None:
        """To the hit of a place, looked for anew where another query is in the box."""
        query, hit_id = place
        if query != self.box.value.strip():
            self.box.value = query
            self.look()
        self.go_to(hit_id)

    def go_to(self, hit_id: str) -> None:
        """The cursor goes to a hit, at once or when it is listed."""
        raise NotImplementedError


def _pin(hit: Hit, *, pinned: bool) -> Change:
    kind, _, number = hit.id.partition("/")
    return commands.pin_found(kind, int(number), pinned)
