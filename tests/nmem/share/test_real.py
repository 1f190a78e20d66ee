"""Real sessions of a dozen projects: briefs are bounded and whole, files well formed, no home in any of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import Connection

import pytest

from capture.storage import store
from nmem import database, tables
from nmem.importing.discover import find
from nmem.importing.importer import Importer
from nmem.purge import history
from nmem.settle import settle
from nmem.share import brief, document, markdown, page
from tests.nmem import real_history
from tests.nmem.share.test_documents import ATTRIBUTES, TAGS, Parsed

pytestmark = pytest.mark.slow
NOW, EPISODES, SESSIONS = 1_790_000_000_000, 20, 10
HOMES = re.compile(r"(?<![\w.*])/(?:home|Users)/[\w-]+/|[A-Z]:[\\/]Users")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """The first session of each project, imported and settled."""
    folder, shared = tmp_path_factory.mktemp("real"), Path(__file__).resolve().parents[4] / "shared"
    if not shared.is_dir():
        pytest.skip("../shared is absent: no real material to test on")
    path = str(folder / "data" / "nmem.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(real_history, "MOST", 1)
        patch.setenv("HOME", str(folder))
        patch.setenv("NMEM_DB", path)
        real_history.transcripts(shared, folder / "history")
        with closing(store.connect(path, timeout=5)) as db:
            tables.ensure(db)
            history.begin(db, NOW)
            Importer(db, workers=0).run(find([folder / "history"], "claude"))
        settle(path, 600, models=False, clock=lambda: NOW)
        with closing(database.reader(path)) as db:
            yield db


def test_every_brief_is_bounded_and_whole(real: Connection) -> None:
    made = [brief.brief(real, unit) for (unit,) in real.execute("SELECT id FROM work_units ORDER BY id")]
    assert len(made) >= EPISODES
    for one in made:
        assert 250 < one.tokens <= brief.MOST
        assert one.text.endswith("where a decision is missing.")
        assert "“" in one.text
        assert not HOMES.search(one.text)
        assert all(part.endswith((".", "”")) for part in one.text.split("\n\n"))
    assert sum(one.tokens > 900 for one in made) > 3


def test_every_page_is_well_formed_and_shows_no_home(real: Connection) -> None:
    sessions = [session for (session,) in real.execute("SELECT DISTINCT session_id FROM work_units")]
    assert len(sessions) >= SESSIONS
    for session in sessions:
        found = document.of_session(real, session)
        text, html = markdown.write(found), page.write(found)
        seen = Parsed(html)
        assert not seen.open
        assert set(seen.tags) <= TAGS
        assert seen.attributes <= ATTRIBUTES
        assert not HOMES.search(seen.words)
        assert not HOMES.search(text)
        assert text.count("\n## ") >= 4
