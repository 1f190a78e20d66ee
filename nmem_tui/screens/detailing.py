"""One row of the stream on the screen Now: its details beside it or over it, its labels, its text, its end."""

from __future__ import annotations

from textual import getters, on

from nmem.read import stream
from nmem.read.views import StreamRow
from nmem_tui.model import labels
from nmem_tui.screens.filtering import Filtering
from nmem_tui.screens.giving import Take
from nmem_tui.widgets.details import Details
from nmem_tui.widgets.stream import Stream


class Detailing(Filtering):
    """The part of the screen Now that is about the row under the cursor."""

    ALONE = frozenset({"relabel", "copy_id", "pin"})
    TOGETHER = frozenset({"purge", "copy", "editor"})

    stream = getters.query_one(Stream)
    details = getters.query_one(Details)

    def __init__(self) -> None:
        super().__init__()
        self._opening = False
        """Whether the details open once the row is read: the screen is laid out once, with what stands in them."""

    @property
    def row_key(self) -> int | None:
        """The row under the cursor."""
        return self.stream.window.key(self.stream.cursor)

    @property
    def opened(self) -> bool:
        """Whether the details are open, or will be at once."""
        return self._opening or bool(self.details.display)

    @property
    def covered(self) -> bool:
        """Whether the details lie over the stream."""
        return self.is_mounted and self.has_class("-narrow") and bool(self.details.display)

    def may_open(self) -> str | None:
        """Only a row can be opened."""
        return None if len(self.stream.window) else "there is no row yet"

    may_copy = may_open
    may_purge = may_open
    may_next_failure = may_open
    may_last_failure = may_open

    def do_open(self) -> None:
        """Open the details, or close them."""
        if self.opened:
            self.close_details()
        else:
            self._opening = True
            self._describe()

    @on(Stream.Opened)
    def open_clicked(self) -> None:
        """A second click opens."""
        self.do_open()

    def close_details(self) -> None:
        """Hide the details."""
        self._opening = self.details.display = False

    def _describe(self) -> None:
        if (key := self.row_key) is not None:
            self.reads.ask("details", lambda db: stream.rows(db, [key], whole=True).get(key), self._show_details)

    def _show_details(self, row: StreamRow | None) -> None:
        if row is None:  # it went meanwhile: nothing opens
            self._opening = False
            return
        self.details.show(row)
        self.details.display, self._opening = self.opened, False

    def may_relabel(self) -> str | None:
        """Only a call has labels."""
        row = self.stream.row
        return (
            None if row is not None and row.outcome and row.word not in labels.UNLABELLED else "only a call has labels"
        )

    def do_relabel(self) -> None:
        """Its labels, and why; one key each says them better."""
        from nmem_tui.screens.relabel import Relabel

        if (key := self.row_key) is not None:
            self.app.push_screen(Relabel(key // 2))

    def give_text(self, take: Take) -> None:
        """The row's whole text, or that of all marked ones in their order."""

        def give(found: dict[int, StreamRow]) -> None:
            rows = sorted(found.values(), key=lambda row: (row.at, row.key))
            if rows:
                take("\n\n".join(row.text or row.path for row in rows))

        if keys := self._chosen():
            self.reads.ask("copy", lambda db: stream.rows(db, keys, whole=True), give)

    def _chosen(self) -> list[int]:
        """The marked rows that are listed, else the one under the cursor."""
        here = [] if self.marked or self.row_key is None else [self.row_key]
        return [each for each in self.meant if isinstance(each, int)] or here

    def id_here(self) -> str:
        """The row's own."""
        return "" if self.row_key is None else _id(self.row_key)

    def do_purge(self) -> None:
        """See what goes with the row, or with all marked ones, then let it go."""
        from nmem_tui.screens.purging import ask

        ask(self.cockpit, [_id(key) for key in self._chosen()], then=self.unmark)


def _id(key: int) -> str:
    """A row's own id."""
    return f"{'obs' if key % 2 else 'prompt'}/{key // 2}"
