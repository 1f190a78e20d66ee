"""Patches: which files, and how many lines went and came."""

from __future__ import annotations

import difflib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from capture.clients import patch

ENVELOPE = """*** Begin Patch
*** Add File: docs/new.md
+# Title
+
+text
*** Update File: src/a.py
*** Move to: src/b.py
@@ def f():
 def f():
-    return 1
+    return 2
+    # done
*** Delete File: old.txt
*** End Patch
"""


def test_each_file_of_an_envelope() -> None:
    new, moved, gone = patch.apply_patch(ENVELOPE)
    assert (new["path"], new["created"], new["added"], new["removed"]) == ("docs/new.md", True, 3, 0)
    assert new["new"] == "# Title\n\ntext"
    assert (moved["path"], moved["moved_from"], moved["created"]) == ("src/b.py", "src/a.py", False)
    assert (moved["old"], moved["new"]) == ("    return 1", "    return 2\n    # done")
    assert (moved["added"], moved["removed"]) == (2, 1)
    assert moved["patch"] == "@@ def f():\n def f():\n-    return 1\n+    return 2\n+    # done"
    assert (gone["path"], gone["deleted"], gone["removed"]) == ("old.txt", True, None)


def test_an_envelope_with_windows_lines_is_the_same() -> None:
    assert patch.apply_patch(ENVELOPE.replace("\n", "\r\n")) == patch.apply_patch(ENVELOPE)


def test_a_text_without_files_has_none() -> None:
    assert patch.apply_patch("*** Begin Patch\n+lost\n*** End Patch") == []
    assert patch.apply_patch("") == []


@given(st.text())
def test_any_envelope_is_read(text: str) -> None:
    for file in patch.apply_patch(f"*** Begin Patch\n*** Update File: a\n{text}\n*** End Patch"):
        assert isinstance(file["path"], str)


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=8)


@given(LINES, LINES)
def test_lines_that_differ_account_for_the_growth(old: list[str], new: list[str]) -> None:
    before, after = "".join(f"{line}\n" for line in old), "".join(f"{line}\n" for line in new)
    removed, added = patch.differing(before, after)
    assert added - removed == len(new) - len(old)
    least = list(difflib.ndiff(old, new))
    assert 0 <= removed <= len(old)
    assert 0 <= added <= len(new)
    if old == new:
        assert (removed, added) == (0, 0)
    else:
        assert removed + added >= 1
        assert (removed == 0) <= (not any(line.startswith("- ") for line in least))


def test_a_last_line_without_an_end_is_a_line() -> None:
    assert patch.differing("", "a") == (0, 1)
    assert patch.differing("", "a\n") == (0, 1)
    assert patch.differing("a\nb", "a\nc") == (1, 1)
    assert patch.differing("same", "same") == (0, 0)


def test_a_unified_diff_is_counted_without_its_header() -> None:
    file: dict[str, Any] = {}
    assert patch.take_unified(file, "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n+z\n")
    assert (file["added"], file["removed"]) == (2, 1)
    assert not patch.take_unified(file, "no diff at all")
    assert not patch.take_unified(file, "")


def test_a_structured_patch_of_any_shape() -> None:
    file: dict[str, Any] = {"added": 9}
    empty: list[object] = [None, [], "x", [None], [{"lines": None}], [{"lines": []}]]
    for nothing in empty:
        assert not patch.take_hunks(file, nothing)
    assert file == {"added": 9}
    assert patch.take_hunks(file, [{"lines": [" a", "+b", 7]}, {"lines": ["-c"]}])
    assert (file["added"], file["removed"]) == (1, 1)
