"""What comes is kept in short transactions, within bounds, and only where it is what it should be."""

from __future__ import annotations

import pytest

from nmem.team import local


@pytest.mark.parametrize("path", [
    "../x", "a/../../b", "a\\..\\..\\b", "..\\x", " ../x", "a/ .. /b", "/etc/passwd",
    " /etc/passwd", "\\\\host\\x", "~/x",
    "C:\\x", "c:x", "file:///etc/x", "https://a.b/c", "javascript:x", "%2e%2e/x", "%2E%2e%2fx", "%2fetc/passwd",
    " ", "",
])  # fmt: skip
def test_a_path_that_leads_out_of_the_project_is_none(path: str) -> None:
    assert local.paths([path, "src/a.py"]) == ["src/a.py"]


def test_a_path_in_the_project_stays_as_it_is() -> None:
    inside = ["src/a.py", "src\\a.py", "..a/b..c", "a b/ü.md", "100%/x", "docs/a:b.md", ".github/x.yml"]
    assert local.paths([*inside, 1, None]) == inside
