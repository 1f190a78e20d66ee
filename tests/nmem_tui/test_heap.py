"""What is free goes back to the system, where the C library knows how."""

import ctypes
import gc
import os
import sys
from pathlib import Path

import pytest
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.cache import FIFOCache
from textual.strip import Strip

from nmem_tui import idle


def resident() -> int:
    """Bytes in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is another one")
def test_what_is_free_goes_back() -> None:
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes, library.free.argtypes = (
        ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p],
    )  # fmt: skip
    blocks = [library.malloc(60_000) for _ in range(1000)]
    for block in blocks:
        ctypes.memset(block, 1, 60_000)
    for block in blocks[:-1]:
        library.free(block)
    before = resident()
    idle.give_back()
    library.free(blocks[-1])
    assert before - resident() > 40_000_000


def test_looks_that_were_drawn_once_are_not_kept_for_ever() -> None:
    looks = Strip.render_ansi.cache_info
    Strip.render_ansi.cache_clear()  # other tests may have drawn in this process
    for x in range(2_000):
        Strip.render_ansi(Style(meta={"offset": (x, 0)}), ColorSystem.TRUECOLOR)
        if x == 500:
            idle._collect()
            assert looks().currsize > 400, "those of a screen or two stay"
    idle._collect()
    assert looks().currsize == 0


def test_a_strip_has_the_caches_that_were_used(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Strip([Segment("a line")])
    monkeypatch.setattr(Strip, "__init__", Strip.__init__)
    monkeypatch.setattr(Strip, "__getattr__", None, raising=False)  # both are the library's again afterwards
    idle.spare_strips()
    bare = Strip([Segment("a line")])
    assert caches(plain) in (7, 0) and caches(bare) == 0, "0 where a cockpit has run in this process"
    assert bare.crop(2, 4).text == "li" and bare.divide([2, 6])[1].text == "line"
    assert caches(bare) == 2
    assert bare.crop(2, 4) is bare.crop(2, 4), "what was cut once is kept"
    forms = {name: each._maxsize for name in Strip.__slots__ if isinstance(each := getattr(plain, name), FIFOCache)}
    assert forms == idle._FORMS, "each as the library makes it"
    with pytest.raises(AttributeError, match="_another"):
        getattr(bare, "_another")  # noqa: B009


def caches(strip: Strip) -> int:
    """How many a strip has, counted without making one."""
    return sum(isinstance(each, FIFOCache) for each in gc.get_referents(strip))


def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    idle.share_heap()
    idle.give_back()


def test_an_interpreter_without_foreign_functions_goes_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    idle.share_heap()
    idle.give_back()
