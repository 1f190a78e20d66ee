"""The curves: well-formed, escaped, readable on both grounds, and no label on another."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from benchmarks import curves, figures
from benchmarks.figures import Run

SVG = "{http://www.w3.org/2000/svg}"


def grown() -> Run:
    run = Run()
    for one in figures.MEASURES:
        for at, size in enumerate((10_000, 100_000, 3_000_000)):
            run.add(one.key, size, 1 + 0.1 * at)
    return run


def test_every_figure_that_was_measured_twice_is_a_line_with_its_name() -> None:
    drawn = ET.fromstring(curves.picture(grown()))
    starts = tuple(each for _, group in curves.PANELS for each in group)
    shown = [one for one in figures.MEASURES if one.key.startswith(starts)]
    assert len(drawn.findall(f"{SVG}path")) == len(shown)
    said = " ".join(each.text or "" for each in drawn.iter(f"{SVG}text"))
    assert all(one.what in said for one in shown)
    assert "3e6" in said


def test_text_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = replace(figures.MEASURES[0], what='<b> & "c"')
    monkeypatch.setattr(figures, "MEASURES", (odd,))
    run = Run()
    for size in (10_000, 100_000):
        run.add(odd.key, size, 1.0)
    drawn = ET.fromstring(curves.picture(run))
    assert [each.text for each in drawn.iter(f"{SVG}text") if "<b>" in (each.text or "")] == ['<b> & "c" 1.00']


def test_it_knows_dark_and_light() -> None:
    assert "prefers-color-scheme:dark" in curves.picture(grown())


def test_one_size_is_no_curve() -> None:
    run = Run()
    run.add("read stream", 10_000, 1.0)
    assert ET.fromstring(curves.picture(run)).findall(f"{SVG}path") == []


def test_labels_stand_apart_and_in_the_panel() -> None:
    places = curves.apart(dict.fromkeys("abcdefgh", 100.0), 30.0, 200.0)
    found = sorted(places.values())
    assert all(later - earlier >= 12.9 for earlier, later in pairwise(found))
    assert found[0] >= 30
    assert found[-1] <= 200


def test_the_picture_is_small() -> None:
    assert len(curves.picture(grown())) < 20_000
