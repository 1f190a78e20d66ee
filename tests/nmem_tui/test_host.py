"""What goes out of the cockpit: the clipboard's bytes, the editor and what comes back, whole views as files."""

from __future__ import annotations

import base64
import json
import os
import shlex
import signal
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import TextArea

from nmem import database
from nmem.errors import NmemError
from nmem_tui import output
from nmem_tui.model.actions import NUMBERED
from nmem_tui.screens.search_actions import open_file

SCREENS = NUMBERED.split()
PLAIN = {"TERM": "xterm-256color", "PATH": ""}


def script(folder: Path, name: str, body: str) -> str:
    """A program of a test's own."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def desk(here: Path, load: Any, written: Any) -> str:
    """A database with something on every screen."""
    written("every screen", lambda: load("whole_seed").database(load, "aurora.db"))
    return "aurora.db"


# The clipboard


def test_osc52_is_what_a_terminal_takes() -> None:
    sequence, how = output.osc52("héllo\n", PLAIN)
    assert sequence == f"\x1b]52;c;{base64.b64encode('héllo'.encode() + bytes([10])).decode()}\x07"
    assert how == "through the terminal (OSC 52)"


def test_tmux_is_asked_to_pass_it_on_and_keeps_it_itself() -> None:
    sequence, how = output.osc52("x", {**PLAIN, "TMUX": "/tmp/tmux-1/default,1,0", "TERM": "screen-256color"})
    assert sequence == "\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\\x1b]52;c;eA==\x07"
    assert how == "through tmux (OSC 52)"


@pytest.mark.parametrize("environ", [{"STY": "1.pts"}, {"TERM": "screen.xterm"}])
def test_screen_gets_pieces_that_it_does_not_drop(environ: dict[str, str]) -> None:
    sequence, how = output.osc52("long " * 400, {**PLAIN, **environ})
    pieces = sequence.removesuffix("\x1b\\").split("\x1b\\")
    assert all(piece.startswith("\x1bP") and len(piece) < 256 for piece in pieces)
    inside = "".join(piece.removeprefix("\x1bP") for piece in pieces)
    assert inside == output.osc52("long " * 400, PLAIN)[0]
    assert how == "through screen (OSC 52)"


def test_what_is_too_long_is_cut_at_a_character_and_told() -> None:
    text = "é" * output.LIMIT
    sequence, how = output.osc52(text, PLAIN)
    sent = base64.b64decode(sequence.removeprefix("\x1b]52;c;").removesuffix("\x07"))
    assert sent.decode() == "é" * (output.LIMIT // 2)
    assert output.told(text, how, cut=True).startswith("copied the first 37,000 of 74,000 characters through the")


@pytest.mark.parametrize(
    ("environ", "platform", "name"),
    [({"WAYLAND_DISPLAY": "w"}, "linux", "wl-copy"), ({"DISPLAY": ":0"}, "linux", "xclip"), ({}, "darwin", "pbcopy"),
     ({"WSL_DISTRO_NAME": "u"}, "linux", "clip.exe"), ({}, "linux", ""),
     ({"DISPLAY": ":0", "SSH_TTY": "/dev/pts/1"}, "linux", ""), ({"SSH_CONNECTION": "1"}, "darwin", ""),
     ({"TMUX": "t", "SSH_TTY": "/dev/pts/1"}, "linux", "tmux"), ({"TMUX": "t", "DISPLAY": ":0"}, "linux", "xclip")],
)  # fmt: skip
def test_a_desktop_s_own_program_goes_before_the_terminal(
    environ: dict[str, str], platform: str, name: str, tmp_path: Path
) -> None:
    for each in ("wl-copy", "xclip", "pbcopy", "clip.exe", "tmux"):
        script(tmp_path, each, "cat >/dev/null")
    words = output.helper({**environ, "PATH": str(tmp_path)}, platform)
    assert words[:1] == ([name] if name else [])
    assert output.helper({**environ, "PATH": "/nowhere"}, platform) == []


async def test_copying_with_a_program_says_so_and_falls_back(
    make_db: Any, cockpit: Any, until: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bins = tmp_path / "bin"
    bins.mkdir()
    script(bins, "wl-copy", f"exec /bin/cat > '{tmp_path}/taken'")
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"WAYLAND_DISPLAY": "w", "PATH": str(bins)})
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("Y")
        shown = await until(pilot, "with wl-copy")
        taken = (tmp_path / "taken").read_text()
        assert taken.startswith(("obs/", "prompt/"))
        assert f"copied {len(taken)} characters with wl-copy" in shown
        script(bins, "wl-copy", "exit 1")
        await pilot.press("Y")
        await until(pilot, "through the terminal (OSC 52)")


# The editor


def test_the_editor_is_the_person_s_own_words(tmp_path: Path) -> None:
    assert output.words({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    assert output.words({"VISUAL": " ", "EDITOR": "'/opt/my vim' -n"}) == ["/opt/my vim", "-n"]
    for environ, said in (({}, "no editor is set"), ({"EDITOR": "vi 'x"}, "EDITOR cannot be read")):
        with pytest.raises(NmemError, match=said):
            output.words(environ)
    with pytest.raises(NmemError, match="nosuch cannot be used: No such file"):
        output.edit("x", ["nosuch"], {"PATH": str(tmp_path)}, read_only=True)


def test_the_file_is_for_the_owner_alone_and_gone_afterwards(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    words = [
        script(tmp_path, "ed", f'stat -c "%a %n" "$1" "$(dirname "$1")" > "{noted}"; printf "more\\033[31m" >> "$1"')
    ]
    assert output.edit("text; $(touch x) ", words, {"PATH": "/usr/bin:/bin"}, read_only=False).startswith(
        "text; $(touch x) more"
    )
    file, folder = (line.partition(" ") for line in noted.read_text().splitlines())
    assert (file[0], folder[0]) == ("600", "700")
    assert not Path(file[2]).exists()
    assert not Path(folder[2]).exists()
    assert not (tmp_path / "x").exists()
    with pytest.raises(NmemError, match="exited with 3"):
        output.edit("x", [script(tmp_path, "bad", "exit 3")], {"PATH": "/bin"}, read_only=False)


async def test_without_a_terminal_or_an_editor_it_says_so(
    make_db: Any, cockpit: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"EDITOR": "true", **PLAIN})
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("ctrl+e")
        await until(pilot, "an editor needs a terminal of its own")
        pilot.app.environ = PLAIN
        await pilot.press("ctrl+e")
        await until(pilot, "no editor is set: export EDITOR=vim")


@pytest.mark.parametrize(("editor", "said"), [("/bin/false", "exited with 1"), ("/no/such", "cannot be used")])
async def test_an_editor_that_fails_gives_the_terminal_back(
    editor: str, said: str, make_db: Any, cockpit: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else nothing is drawn any more, and no key is read, not even the one that leaves."""
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"EDITOR": editor, **PLAIN})
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        lent: list[str] = []
        kind = type(pilot.app._driver)
        monkeypatch.setattr(kind, "can_suspend", True)
        for name in ("suspend_application_mode", "resume_application_mode"):
            monkeypatch.setattr(kind, name, lambda _driver, name=name: lent.append(name))
        await pilot.press("ctrl+e")
        await until(pilot, said)
        open_file(pilot.app, "here.md", 3)
        await until(pilot, said)
        assert lent == ["suspend_application_mode", "resume_application_mode"] * 2


@pytest.fixture
def suspended(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A terminal that can be lent; what is done while it is lent."""
    lent: list[str] = []

    @contextmanager
    def suspend(_app: Any) -> Any:
        lent.append("lent")
        yield

    monkeypatch.setattr("nmem_tui.app.Cockpit.suspend", suspend)
    return lent


async def test_a_copy_holds_nothing_that_acts_where_it_is_pasted(
    make_db: Any, cockpit: Any, tmp_path: Path, suspended: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row may have been stored by another program: escapes end a shell's bracketed paste, tags spell hidden words."""
    planted = "make\x1b[201~\x9b31m\u202e\U000e0041\x00 all\n\ttwo"
    words = script(tmp_path, "ed", f'/bin/cp "$1" "{tmp_path}/seen"')
    async with cockpit(make_db("story")) as pilot:
        written: list[str] = []
        monkeypatch.setattr(pilot.app._driver, "write", written.append)
        pilot.app.copy_out(planted)
        sent = "".join(written).partition("\x1b]52;c;")[2].partition("\x07")[0]
        assert base64.b64decode(sent).decode() == "make all\n\ttwo"
        pilot.app.environ = {"EDITOR": shlex.quote(words), "PATH": ""}
        pilot.app.edit_out(planted)
    assert (tmp_path / "seen").read_text() == "make all\n\ttwo"


async def test_a_story_is_read_in_the_editor_as_a_copy(
    make_db: Any, cockpit: Any, until: Any, settled: Any, tmp_path: Path, suspended: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    words = script(tmp_path, "ed", f'/bin/cp "$1" "{tmp_path}/seen"; echo more >> "$1"')
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", {"EDITOR": shlex.quote(words), "PATH": ""})
    async with cockpit(make_db("story"), (160, 45)) as pilot:
        await pilot.press("2")
        await settled(pilot)
        await pilot.press("ctrl+e")
        await until(pilot, "that was a copy: your changes to it are not kept")
    assert suspended == ["lent"]
    assert "Dialogue and actions" in (tmp_path / "seen").read_text()


async def test_a_task_s_prompt_comes_back_into_the_form_and_is_stored(
    desk: str, cockpit: Any, until: Any, settled: Any, tmp_path: Path, suspended: list[str], seeds: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    db = seeds.database(desk)
    db.execute("UPDATE tasks SET cwd = ?, worktree = 0", (str(tmp_path),))
    db.close()
    words = script(tmp_path, "ed", 'printf "Written elsewhere, in two\\nlines\\n" > "$1"')
    editors = {"VISUAL": shlex.quote(words), "EDITOR": "false", "PATH": ""}
    monkeypatch.setattr("nmem_tui.screens.host.Host.environ", editors)
    async with cockpit(desk, (160, 45)) as pilot:
        await pilot.press("7")
        await settled(pilot)
        for _ in range(20):
            if pilot.app.why_not("edit_task") is None:
                break
            await pilot.press("j")
            await settled(pilot)
        number = pilot.app.screen.one.id
        await pilot.press("ctrl+e")
        await until(pilot, "Written elsewhere, in two")
        await pilot.press("ctrl+e")
        await settled(pilot)
        assert pilot.app.screen.query_one(TextArea).text == "Written elsewhere, in two\nlines"
        await pilot.press("ctrl+s")
        await until(pilot, f"task/{number} is changed")
    assert suspended == ["lent", "lent"]
    db = seeds.database(desk)
    assert db.execute("SELECT prompt FROM tasks WHERE id = ?", (number,)).fetchone()[0].startswith("Written elsewhere")
    db.close()


# Whole views


def test_no_file_is_written_over(here: Path) -> None:
    made = [output.write("nmem-now", "txt", "é\n", 1_760_000_000_000) for _ in range(3)]
    assert len(set(made)) == 3
    assert all((here / each).read_text("utf-8") == "é\n" for each in made)
    assert {stat.S_IMODE((here / each).stat().st_mode) for each in made} == {0o600}
    with pytest.raises(NmemError, match="cannot be written here: No such file"):
        output.write("no/such/folder", "txt", "x", 0)


async def test_every_screen_is_copied_and_goes_out_whole_as_text_and_as_data(
    desk: str, cockpit: Any, at: Any, until: Any, text: Any, here: Path, harmless: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = {"now": ("obs/", "prompt/"), "episodes": ("episode/",), "stance": ("session/", "obs/", "episode/"),
           "learnings": ("learning/",), "context": ("episode/", "learning/", "file/", "thread/", "next/", "prompt/"),
           "search": ("obs/", "prompt/", "episode/", "session/", "learning/"), "tasks": ("task/",),
           "health": ("health",), "sessions": ("session/",)}  # fmt: skip
    copied: list[str] = []
    async with cockpit(desk, (80, 24)) as pilot:
        monkeypatch.setattr(pilot.app, "copy_out", copied.append)
        for screen in SCREENS:
            copied.clear()
            await at(pilot, screen)
            await pilot.press("Y")
            assert len(copied) == 1, screen
            assert copied[0].startswith(ids[screen]), screen
            if screen != "health":
                await pilot.press("y")
                assert len(copied) == 2, screen
                assert copied[1].strip(), screen
            for form, downs in (("txt", 0), ("json", 1)):
                pilot.app.clear_notifications()
                await pilot.pause()
                assert "written: " not in text(pilot), "what was said of the one before"
                await pilot.press("E", *["down"] * downs, "enter")
                await until(pilot, f"written: nmem-{screen}-")
                (file,) = here.glob(f"nmem-{screen}-*.{form}")
                content = file.read_text("utf-8")
                harmless(content)
                if form == "json":
                    data = json.loads(content)
                    assert data["view"] == screen
                    assert len(data) > 2
                else:
                    assert len(content.splitlines()) > 4


async def test_an_export_is_more_than_what_is_on_screen(
    make_db: Any, cockpit: Any, settled: Any, until: Any, here: Path
) -> None:
    async with cockpit(make_db("long"), (80, 24)) as pilot:
        await pilot.press("E")
        await until(pilot, "Export")
        await pilot.press("down", "enter")
        await until(pilot, "written: nmem-now-")
        (file,) = here.glob("nmem-now-*.json")
        data = json.loads(file.read_text("utf-8"))
        assert len(data["stream"]) > 100
        assert all(row["id"].startswith(("obs/", "prompt/")) for row in data["stream"])


async def test_an_export_goes_to_the_clipboard_as_well(desk: str, cockpit: Any, until: Any, here: Path) -> None:
    copied: list[str] = []
    async with cockpit(desk, (160, 45)) as pilot:
        pilot.app.copy_out = copied.append
        await pilot.press("E")
        await until(pilot, "Export")
        await pilot.press(*"json clip", "enter")
        for _ in range(2400):
            await pilot.pause(0.05)
            if copied:
                break
    assert json.loads(copied[0])["view"] == "now"
    assert not list(here.glob("nmem-*"))


async def test_a_story_is_copied_and_exported_whole(
    here: Path, seeds: Any, cockpit: Any, settled: Any, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "\n".join(f"line {number} of what was asked, and it goes on and on to its very end" for number in range(400))
    db = seeds.database("aurora.db")
    seeds.story(db)
    made = seeds.history(db)
    db.execute("UPDATE prompts SET content = ? WHERE id = (SELECT min(prompt_id) FROM unit_prompts)", (said,))
    unit = db.execute("SELECT unit_id FROM unit_prompts ORDER BY prompt_id LIMIT 1").fetchone()[0]
    db.commit()
    db.close()
    assert made and len(said) > 20_000
    copied: list[str] = []
    async with cockpit("aurora.db", (80, 24)) as pilot:
        monkeypatch.setattr(pilot.app, "copy_out", copied.append)
        pilot.app.show_episode(unit)
        await settled(pilot)
        await pilot.press("y")
        await settled(pilot)
        story = pilot.app.screen.gather()
        with database.reader("aurora.db") as reader:
            written = story(reader).written("text")
    assert "line 399 of what was asked, and it goes on and on to its very end" in copied[0]
    assert all(line in copied[0] and line in written for line in said.splitlines())
    assert max(map(len, copied[0].splitlines())) < 2_000


def test_ctrl_c_in_the_editor_is_the_editor_s(tmp_path: Path) -> None:
    """One that leaves the terminal as it is: the signal comes to its whole group, to the cockpit as well."""
    body = f'kill -INT {os.getpid()}; printf kept >> "$1"'
    before = signal.getsignal(signal.SIGINT)
    left = output.edit("", [script(tmp_path, "ed", body)], {"PATH": "/usr/bin:/bin"}, read_only=False)
    assert left == "kept"
    assert signal.getsignal(signal.SIGINT) is before


def test_more_than_can_be_taken_back_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "MOST", 8)
    words = [script(tmp_path, "ed", 'printf "123456789" > "$1"')]
    with pytest.raises(NmemError, match="more than 8 bytes"):
        output.edit("", words, {"PATH": "/usr/bin:/bin"}, read_only=False)
