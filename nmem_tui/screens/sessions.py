"""Sessions: every session with its state; resume, name, tag, archive."""

from __future__ import annotations

from collections.abc import Callable
from sqlite3 import Connection
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content

from nmem.read.sessions import ALL, ARCHIVED, CURRENT, SORTS, Listed
from nmem_tui.model import actions, sessions
from nmem_tui.model.actions import Action
from nmem_tui.model.sessions import EPISODE, Detail
from nmem_tui.operations import commands
from nmem_tui.screens.base import Take
from nmem_tui.screens.list_screen import ListScreen
from nmem_tui.widgets.drawn import Frame, Panel
from nmem_tui.widgets.item_lists import Items
from nmem_tui.widgets.lines import Lines

if TYPE_CHECKING:
    from nmem_tui.model.exports import Gather

_NONE = "no session here"
_WHICH = (CURRENT, ARCHIVED, ALL)

actions.add(
    Action("resume_session", ("o",), "resume",
           "resume it with its client in a pane of tmux beside this one, else copy the command", "Session", "sessions"),
    Action("restore_transcript", ("b",), "",
           "give its client a transcript back that it deleted, from nmem's copy", "Session", "sessions", writes=True),
    Action("name_session", ("R",), "name", "give it a name of your own", "Session", "sessions", writes=True),
    Action("tag_session", ("m",), "tags", "add tags to it; one with a ! before it goes", "Session", "sessions",
           writes=True),
    Action("archive_session", ("A",), "archive", "put it away; an archived one: bring it back", "Session", "sessions",
           writes=True),
    Action("sort_sessions", ("S",), "sort", "sort by activity, start, prompts, project, state", "List", "sessions"),
    Action("which_sessions", ("v",), "view", "the current ones, the archived ones, all", "List", "sessions"),
)  # fmt: skip


class SessionList(ListScreen):
    """All sessions, and what one can do with a whole one."""

    CONTEXT = OPENS = "sessions"
    ALONE = frozenset({"resume_session", "restore_transcript", "name_session", "copy_id"})
    TOGETHER = frozenset({"tag_session", "archive_session", "purge"})
    HINT = "words of name, #tag, state, project, client; !word"

    def __init__(self) -> None:
        super().__init__()
        self.index: Items = Items(id="all-sessions")
        self.pane: Items = Items(id="session")
        self.frame = Frame(id="session-list")
        self.over = self.about = Frame(id="session-about")
        self.listing: list[Listed] | None = None
        self.listed: dict[str, Listed] = {}
        self.detail: Detail | None = None
        self.sort, self.which = SORTS[0], CURRENT
        self.away: set[str] = set()
        """Sessions that left this list by a key; the cursor goes to one that undo brings back."""

    def body(self) -> ComposeResult:
        """The list; beside it the session under the cursor."""
        self.index.marked = lambda place: self.index.items[place].key in self.all_marked
        with Horizontal(id="session-rows"):
            with self.frame:
                yield self.search
                yield Panel(id="session-heads")
                yield self.index
            with self.about:
                yield self.pane
        yield Panel(id="empty")

    def on_mount(self) -> None:
        """The list has the keyboard."""
        self.about.border_title = Content("Session")
        self.set_focus(self.index)

    # What is read

    def read_list(self) -> None:
        at, project, which, sort = self.cockpit.clock(), self.cockpit.project, self.which, self.sort
        self.reads.ask("sessions", lambda db: sessions.listed(db, at, project, which, sort), self._show)

    def _read_detail(self) -> None:
        one, at = self.one, self.cockpit.clock()
        if one is None:
            self._show_detail(None)
        else:
            self.reads.ask("session", lambda db: sessions.detail(db, one.id, at), self._show_detail)

    def _show(self, listing: sessions.Listing) -> None:
        found, shape, items = listing
        back = [one.id for one in found if one.id in self.away and one.id not in self.listed]
        self.listing, self.listed = found, {one.id: one for one in found}
        self.header.show(lambda cells: sessions.header(found, cells))
        none = not found and self.which == CURRENT
        self.set_class(none, "-empty")
        if none:
            self.tell_empty()
        first = not self.index.count
        self.index.hint = "  no session is archived" if self.which == ARCHIVED else "  no session"
        self.index.tell(lambda _cells: items, keep=not first, free=False)
        if back:
            self.index.seek(sessions.SESSION, back[0])
            self.away.clear()
        heads = self.query_one("#session-heads", Panel)
        heads.show(lambda cells, _rows: [[(" ", "text"), *sessions.columns(shape, cells - 2)]])
        self.name_list()
        self._read_detail()
        self.check_keys()

    def name_list(self) -> None:
        told = sessions.total(self.listing or (), self.sort, self.which) if not self.filtered else ""
        self.frame.border_title = self.titled("Sessions", told)

    def _show_detail(self, found: Detail | None) -> None:
        one = self.one
        if found is not None and (one is None or found.session.id != one.id):
            return
        same = found is not None and self.detail is not None and self.detail.session.id == found.session.id
        self.detail = found
        at, zone = self.cockpit.clock(), self.cockpit.zone
        self.pane.tell(lambda cells: sessions.detail_items(found, cells, at, zone) if found else [], keep=same)
        self.check_keys()

    def nothing_yet(self) -> None:
        self.listing, self.listed = None, {}
        super().nothing_yet()

    def gather(self) -> Gather:
        """The list as it is filtered and sorted."""
        from nmem_tui.model import exports  # on use: start-up stays short

        return exports.all_sessions(self.words, self.cockpit.project, self.which, self.sort, self.cockpit.clock())

    # What is under the cursor

    @property
    def one(self) -> Listed | None:
        """The session under the cursor."""
        item = self.index.item
        return self.listed.get(item.key) if item and item.kind else None

    @property
    def known(self) -> Detail | None:
        """What was read of it; None until it was."""
        found = self.detail
        return found if found and self.one and found.session.id == self.one.id else None

    def chosen(self) -> list[Listed]:
        """The marked sessions, else the one under the cursor."""
        if not self.marked:
            return [self.one] if self.one else []
        return [self.listed[str(key)] for key in self.meant]

    @property
    def row_key(self) -> str | None:
        return self.one.id if self.one and not self.pane.has_focus else None

    def row_keys(self) -> list[str]:
        return [item.key for item in self.index.items if item.kind]

    @on(Lines.Moved, "#all-sessions")
    def tell_about(self) -> None:
        """Another one is under the cursor: it is read once that rests."""
        self.once_quiet(self.REST_S, self._read_detail)

    @on(Lines.Moved, "#session")
    def other_line(self) -> None:
        """Whether an episode is under the cursor decides what can be done."""
        self.check_keys()

    def spot(self) -> str:
        """The session under the cursor."""
        return self.one.id if self.one else ""

    def return_to(self, place: str) -> None:
        self.uncover()
        self.index.seek(sessions.SESSION, place)

    @property
    def clickable(self) -> tuple[Lines, ...]:
        """Sessions, and the episodes of one."""
        return self.index, self.pane

    def may_open(self) -> str | None:
        """A session can be opened, and its episodes."""
        if self.one is None:
            return _NONE
        item = self.pane.item
        return (
            None
            if not self.pane.has_focus or (item and item.kind)
            else "put the cursor on an episode, or on its stream"
        )

    def do_open(self) -> None:
        """Into what is told of it; from there to an episode, or to its stream."""
        item = self.pane.item
        if not self.pane.has_focus:
            self.into(self.pane)
        elif item and item.kind == EPISODE:
            self.cockpit.show_episode(int(item.key))
        elif item and item.kind == sessions.SESSION:
            self.cockpit.show_session(item.key)

    def may_copy(self) -> str | None:
        return None if self.known else _NONE

    def give_text(self, take: Take) -> None:
        """The command that resumes it, else its name."""
        if self.known:
            take(self.known.resume.line if self.known.resume else self.known.session.name)

    def id_here(self) -> str:
        return f"session/{self.one.id}" if self.one else ""

    # What is done with sessions

    def may_resume_session(self) -> str | None:
        """Only where its client is known to resume, and has its transcript."""
        if self.cockpit.demo:
            return "the demo runs nothing"
        found = self.known
        if found is None:
            return _NONE
        if found.resume is None:
            return found.why_not
        if found.resume.deleted:
            back = f": {actions.key_of('restore_transcript')} gives it back" if found.resume.copied else ""
            return f"its client has deleted the transcript{back}"
        return None

    def do_resume_session(self) -> None:
        from nmem.sessions import resume  # on use: start-up stays short

        plan, environ = self.known.resume if self.known else None, self.cockpit.environ
        if plan is None:
            return
        if self.cockpit.is_web or not resume.likely(environ):
            self.cockpit.copy_out(plan.line)
            self.cockpit.say(f"copied: {plan.line} · paste it in a terminal")
            return
        self.cockpit.aside(lambda: commands.resume_beside(plan, environ))

    def may_restore_transcript(self) -> str | None:
        """Only a transcript that is gone and was copied."""
        plan = self.known.resume if self.known else None
        if plan is None:
            return self.known.why_not if self.known else _NONE
        if not plan.deleted:
            return "its transcript is there: nothing to give back"
        return None if plan.copied else "nmem has no copy of its transcript"

    def do_restore_transcript(self) -> None:
        if self.known and self.known.resume:
            self.cockpit.change(commands.restore_transcript(self.known.resume))

    def may_name_session(self) -> str | None:
        return None if self.one else _NONE

    def do_name_session(self) -> None:
        from nmem_tui.screens.prompt_dialogs import Name  # on use: start-up stays short

        one = self.one
        if one is None:
            return
        before = one.name if one.named else ""

        def take(name: str | None) -> None:
            if name is not None and name != before:
                self.cockpit.change(commands.name_session(one.id, name))

        self.app.push_screen(Name("Name of the session", before, sessions.called(one)[:80]), take)

    def may_tag_session(self) -> str | None:
        return None if self.chosen() else _NONE

    may_archive_session = may_purge = may_tag_session

    def do_tag_session(self) -> None:
        from nmem_tui.screens.prompt_dialogs import Words  # on use: start-up stays short

        some = [one.id for one in self.chosen()]

        def take(typed: str | None) -> None:
            if typed:
                self._all([commands.tag_session(each, typed) for each in some], "tagged")

        had = sessions.tagged(self.chosen()[0]) if len(some) == 1 else ""
        hint = f"release infra !draft{f'; it has {had}' if had else ''}"
        self.app.push_screen(Words("Tags to add", "", hint), take)

    def do_archive_session(self) -> None:
        some = self.chosen()
        on = not all(one.archived for one in some)
        changes = [commands.archive_session(one.id, on) for one in some if one.archived != on]
        self.away = {one.id for one in some}
        self._all(changes, "archived" if on else "brought back")

    def _all(self, changes: list[Callable[[Connection, int], str]], done: str) -> None:
        self.cockpit.change(changes[0] if len(changes) == 1 else commands.each(changes, done))
        self.unmark()

    def do_purge(self) -> None:
        self.purge([f"session/{one.id}" for one in self.chosen()])

    def do_sort_sessions(self) -> None:
        self.sort = SORTS[(SORTS.index(self.sort) + 1) % len(SORTS)]
        self.read_list()

    def do_which_sessions(self) -> None:
        self.which = _WHICH[(_WHICH.index(self.which) + 1) % len(_WHICH)]
        self.away.clear()
        self.unmark()
        self.read_list()
