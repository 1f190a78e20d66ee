"""Two evenings of a person, played through the registered hooks, give the threads that the person would draw."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from capture import paths
from capture.storage import store
from nmem.settle import settle
from nmem.threads import continuity, links_store, steering

EVENING = 1_760_000_000_000
MINUTE, DAY = 60_000, 86_400_000
_AT_A_TIME = (
    "import sys, time\n"
    "at = int(sys.argv.pop(1))\n"
    "time.time_ns = lambda: at * 1_000_000\n"
    "entry = sys.argv.pop(1)\n"
    "sys.argv[0] = entry\n"
    "exec(compile(open(entry).read(), entry, 'exec'), {'__name__': '__main__', '__file__': entry})\n"
)
"""The registered file at another time of the day: everything else is as it is registered."""


class Evenings:
    """Sends what a client sends; a session is one prompt, a file that the agent edits, and its closing words."""

    def __init__(self, db_path: str, folder: Path) -> None:
        self.db_path, self.folder = db_path, folder
        self.branch("main")

    def branch(self, name: str) -> None:
        """Check another branch out."""
        git = self.folder / ".git"
        git.mkdir(exist_ok=True)
        (git / "HEAD").write_text(f"ref: refs/heads/{name}\n", encoding="utf-8")

    def send(self, at: int, client: str, session: str, event: str, **more: object) -> None:
        payload = {"session_id": session, "cwd": str(self.folder), "hook_event_name": event, **more}
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _AT_A_TIME, str(at), paths.entry(), client, event, "--db", self.db_path],
            input=json.dumps(payload).encode(), capture_output=True, timeout=300,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")

    def cleared(self, before: str, session: str, at: int, prompt: str, closing_words: str) -> None:
        """The person types /clear in a session and speaks in the one that the client opens then."""
        self.send(at - 1000, "claude", before, "SessionEnd", reason="clear")
        self.session(session, at, prompt, "", closing_words, source="clear")

    def session(
        self, session: str, at: int, prompt: str, file: str, closing_words: str, client: str = "claude",
        source: str = "startup",
    ) -> None:  # fmt: skip
        """One session, three minutes long."""
        path = str(self.folder / file)
        self.send(at, client, session, "SessionStart", source=source)
        self.send(at + 1000, client, session, "UserPromptSubmit", prompt=prompt)
        if client == "claude" and file:
            self.send(at + MINUTE, client, session, "PostToolUse", tool_name="Write", tool_use_id=f"t{at}",
                      tool_input={"file_path": path, "content": "x"},
                      tool_response={"type": "create", "filePath": path})  # fmt: skip
        self.send(at + 3 * MINUTE, client, session, "Stop", last_assistant_message=closing_words)


@pytest.fixture
def evenings(db_path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Evenings]:
    monkeypatch.setenv("NMEM_SKIP_SETTLE", "1")
    folder = tmp_path / "shop"
    folder.mkdir()
    yield Evenings(db_path, folder)


def _first(play: Evenings) -> None:
    at = EVENING
    play.session("coupon", at, "Coupons in the cart are rounded up, they must be rounded half down",
                 "src/cart/coupons.py", "Coupons are rounded half down now.")  # fmt: skip
    play.session("two", at + 12 * MINUTE, "and with two of them at once?", "", "Two are rounded once, at the end.",
                 client="codex")  # fmt: skip
    play.session("footer", at + 20 * MINUTE, "Translate the footer into Danish, the legal notice too",
                 "locale/da.json", "The footer is Danish; the legal notice is still missing.")  # fmt: skip
    play.session("notice", at + 31 * MINUTE, "continue", "locale/da.json", "The legal notice is translated.")
    play.session("decimals", at + 42 * MINUTE, "The cart shows three decimals once a coupon was rounded",
                 "", "The total is formatted with two decimals.", client="codex")  # fmt: skip


def _second(play: Evenings) -> None:
    at = EVENING + DAY
    play.branch("feature/webhooks")
    play.session("webhook", at, "The webhook retries forever when the partner answers 429",
                 "src/webhooks/retry.py", "The retries stop after five attempts.")  # fmt: skip
    play.session("checks", at + 8 * MINUTE, "fix the failing tests", "", "The tests of the retry pass.", client="codex")
    play.branch("main")
    play.session("icons", at + 17 * MINUTE, "Draw an icon set for the onboarding wizard",
                 "art/wizard.svg", "Six icons are drawn.")  # fmt: skip
    play.session("receipt", at + 24 * MINUTE, "Rounded coupons: the receipt must show the amount that the cart shows",
                 "src/cart/receipt.py", "The receipt takes the rounded coupon of the cart.")  # fmt: skip


DRAWN = [{"coupon", "two", "decimals"}, {"footer", "notice"}, {"webhook", "checks"}, {"icons"}, {"receipt"}]
"""The threads as the person would draw them; the last goes on with the first, a day later: a link."""


def _kit(play: Evenings, continue_thread: Callable[[str, int], None]) -> None:
    at = EVENING
    play.session("zone", at, "The export command writes dates without a timezone",
                 "src/export.py", "Exported dates carry the timezone.")  # fmt: skip
    play.session("empty", at + 5 * MINUTE, "The import command crashes on empty files",
                 "src/importer.py", "Empty files are skipped with a warning.")  # fmt: skip
    play.session("flag", at + 10 * MINUTE, "Add a --verbose flag to all commands",
                 "src/cli.py", "All commands take --verbose.")  # fmt: skip
    play.session("rename", at + 16 * MINUTE, "Rename the package from datakit to tablekit",
                 "pyproject.toml", "The package is called tablekit.")  # fmt: skip
    play.session("utc", at + 24 * MINUTE, "The timezone in exported dates must be UTC, not local",
                 "src/export.py", "Exported dates are in UTC.")  # fmt: skip
    play.session("docs", at + 29 * MINUTE, "continue with the rename: also the docs", "docs/index.md",
                 "The docs say tablekit.")  # fmt: skip
    assert settle(play.db_path, models=False, clock=lambda: at + 180 * MINUTE) is not None
    at = EVENING + DAY
    continue_thread("flag", at - MINUTE)
    play.session("ignored", at, "The verbose flag is ignored by import", "src/importer.py", "Import prints each file.")
    play.session("twice", at + 9 * MINUTE, "ok, and why does it print twice?", "", "The handler was added twice.")
    play.session("bom", at + 14 * MINUTE, "Importing an empty file still crashes when it has a BOM",
                 "src/importer.py", "A BOM counts as empty.")  # fmt: skip
    play.cleared("bom", "newline", at + 20 * MINUTE, "what about an empty file with only a newline?", "It is empty.")
    play.session("publish", at + 25 * MINUTE, "Publish version 2.0 to PyPI", "CHANGELOG.md", "Version 2.0 is uploaded.")
    play.cleared("publish", "tag", at + 30 * MINUTE, "continue", "The tag is pushed.")


KIT = [{"zone", "utc"}, {"empty"}, {"flag", "ignored", "twice"}, {"rename", "docs"}, {"bom", "newline"},
       {"publish", "tag"}]  # fmt: skip
"""Five sessions on four subjects in half an hour, a thread chosen a day later, two that go on after /clear."""


def _threads(db_path: str) -> list[set[str]]:
    with closing(store.connect(db_path)) as db:
        found: dict[int, set[str]] = {}
        for session, thread in db.execute("SELECT session_id, thread_id FROM session_threads ORDER BY thread_id"):
            found.setdefault(thread, set()).add(session)
        return list(found.values())


def test_two_evenings_give_the_threads_that_a_person_would_draw(evenings: Evenings, db_path: str) -> None:
    _first(evenings)
    assert settle(db_path, models=False, clock=lambda: EVENING + 3 * 60 * MINUTE) is not None
    _second(evenings)
    assert _threads(db_path) == DRAWN
    assert settle(db_path, models=False, clock=lambda: EVENING + DAY + 3 * 60 * MINUTE) is not None
    assert _threads(db_path) == DRAWN
    with closing(store.connect(db_path)) as db:
        thread = {
            session: continuity.proposed(db, session, 0)[0] for session in ("coupon", "receipt", "icons", "webhook")
        }
        links = {
            (each.earlier_thread_id, each.later_thread_id)
            for session in thread.values()
            for each in links_store.decisions_of(db, session or 0)
            if each.linked
        }
        assert links == {(thread["coupon"], thread["receipt"])}


def test_an_import_of_the_same_evenings_gives_the_same_threads(evenings: Evenings, db_path: str) -> None:
    _first(evenings)
    _second(evenings)
    with closing(store.connect(db_path)) as db:
        db.execute("UPDATE work_units SET thread_id = NULL")
        for table in ("episode_links", "session_threads", "threads"):
            db.execute(f"DELETE FROM {table}")
        continuity.assign_all(db)
    assert _threads(db_path) == DRAWN


def test_a_choice_and_clear_give_the_threads_that_a_person_would_draw(evenings: Evenings, db_path: str) -> None:
    def choose(session: str, at: int) -> None:
        with closing(store.connect(db_path)) as db:
            steering.continue_next(db, continuity.proposed(db, session, 0)[0] or 0, at)

    _kit(evenings, choose)
    assert _threads(db_path) == KIT
    assert settle(db_path, models=False, clock=lambda: EVENING + DAY + 180 * MINUTE) is not None
    assert _threads(db_path) == KIT
    with closing(store.connect(db_path)) as db:
        empty, bom = (continuity.proposed(db, session, 0)[0] or 0 for session in ("empty", "bom"))
        link = links_store.between(db, empty, bom)
    assert link is not None
    assert link.linked
