"""The cockpit in a real browser: it is drawn, takes keys and sizes, and the page asks nothing of anybody outside."""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

pytest.importorskip("aiohttp", reason="the extra `web` is not installed")
from tests.nmem_tui import chromium

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.slow,
    pytest.mark.skipif(chromium.PROGRAM is None, reason="chromium is absent"),
]


@pytest.fixture
def address(make_db: Any) -> Iterator[str]:
    """Where the real command shows the test's history."""
    words = [sys.executable, "-m", "nmem", "tui", "--serve", "--db", make_db("story"), "--theme", "light"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = re.search(r"http://\S+", process.stdout.readline())
        assert found is not None
        yield found[0]
        process.terminate()


async def test_a_page_shows_the_cockpit_and_asks_nobody_outside(address: str, tmp_path: Path) -> None:
    async with chromium.browser(tmp_path / "profile") as page:
        await page.open(address)
        await page.shows("aurora-api", "Now", "Episodes", "pytest tests/test_limits.py")
        await page.press("2")
        rows = await page.shows("Flaky thumbnails test", "Users report that avatars")
        await page.call("Emulation.setDeviceMetricsOverride", width=1000, height=600, deviceScaleFactor=1, mobile=False)
        assert max(map(len, rows.splitlines())) > 150
        await page.becomes(f"window.terminal.cols < 120 ? {chromium.LAST_ROW} : ''", "? help")
        assert await page.evaluate("document.fonts.check('16px \"Roboto Mono\"')")
        if kept := os.environ.get("NMEM_KEEP_SHOT"):
            shot = await page.call("Page.captureScreenshot")
            Path(kept).write_bytes(base64.b64decode(shot["data"]))
        await page.press("q")
        await page.becomes("document.body.innerText", "The cockpit is closed. Open it again")
        assert page.said == []
    hosts = {urlsplit(each).hostname for each in page.asked if not each.startswith("data:")}
    assert hosts == {"127.0.0.1"}
    assert any(each.endswith(".ttf") for each in page.asked)
    assert any(each.startswith("ws://127.0.0.1:") for each in page.asked)
