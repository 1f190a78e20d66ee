"""Which files a client loads in a project, what they import, and what they cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from nmem.native import mentions
from nmem.native.documents import ALWAYS, ASKED, find, parse


def lines(text: str) -> list[str]:
    return [one.path for one in mentions.paths(parse(text))]


def names(root: Path, home: Path) -> dict[str, tuple[str, ...]]:
    return {one.shown: one.clients for one in find(str(root), str(home))}


def test_imports_are_followed_as_claude_code_does(tmp_path: Path, own_home: Path) -> None:
    root = tmp_path / "shop"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_text("no", encoding="utf-8")
    (root / "CLAUDE.md").write_text(
        "See @docs/git.md and @AGENTS.md.\n`@docs/code.md` @../outside.md a@b.c\n```\n@docs/fenced.md\n```\n",
        encoding="utf-8",
    )
    for name in ("docs/git.md", "docs/code.md", "docs/fenced.md", "docs/deep.md", "AGENTS.md"):
        (root / name).write_text("@deep.md\n" if name == "docs/git.md" else "x\n", encoding="utf-8")
    assert names(root, own_home) == {
        "CLAUDE.md": ("claude",), "docs/git.md": ("claude",), "docs/deep.md": ("claude",),
        "AGENTS.md": ("claude", "codex", "cursor", "opencode"),
    }  # fmt: skip


def test_files_that_are_one_by_a_link_are_read_once(tmp_path: Path, own_home: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "AGENTS.md").write_text("one\n", encoding="utf-8")
    (root / "CLAUDE.md").symlink_to("AGENTS.md")
    assert names(root, own_home) == {"CLAUDE.md": ("claude", "codex", "cursor", "opencode")}


def test_memories_and_the_person_s_own_file_belong_to_it(tmp_path: Path, own_home: Path) -> None:
    root = tmp_path / "my.shop"
    memory = own_home / ".claude/projects" / str(root).replace("/", "-").replace(".", "-").replace("_", "-") / "memory"
    memory.mkdir(parents=True)
    root.mkdir()
    (memory / "MEMORY.md").write_text("a line of the index\n" * 300, encoding="utf-8")
    (memory / "testing.md").write_text("b\n", encoding="utf-8")
    (own_home / ".claude/CLAUDE.md").write_text("c\n", encoding="utf-8")
    found = {Path(one.path).name: one for one in find(str(root), str(own_home))}
    assert [found[name].loaded for name in ("CLAUDE.md", "MEMORY.md", "testing.md")] == [ALWAYS, ALWAYS, ASKED]
    assert found["CLAUDE.md"].shown == "~/.claude/CLAUDE.md" and found["CLAUDE.md"].everywhere
    assert len(found["MEMORY.md"].told) == 200, "what Claude Code loads of it"


def test_the_heaviest_section_comes_first(tmp_path: Path, own_home: Path) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    (root / "CLAUDE.md").write_text(
        "# A\nshort\n## B\n" + "long words here\n" * 40 + "```\n# no heading\n```\n", encoding="utf-8"
    )
    (one,) = find(str(root), str(own_home))
    assert [(line, name) for line, name, _ in one.sections] == [(3, "B"), (1, "A")]
    assert one.tokens == sum(many for _, _, many in one.sections)


@pytest.mark.parametrize(
    "text",
    [
        "`src/<name>.ts` `src/**/*.ts` `{a,b}/c.ts` `https://a.b/c.ts` `~/x/y.ts` `/etc/hosts`",
        "`@scope/pkg` `path/to/file.ts`",
        "For example `src/a.ts` and such as src/b.ts", "It creates `src/a.ts`", "`src/a.ts` was renamed",
        "```ts\nimport 'src/a.ts'\n```",
        "Never write `src/foo/bar.ts`; `SOME_NAME` and `a b/c.ts`; `.git/index`", "## Removed\n`src/a.ts` held it",
    ],
)  # fmt: skip
def test_patterns_examples_and_what_is_told_to_be_gone_are_no_paths(text: str) -> None:
    assert lines(text) == []


def test_paths_are_found_in_spans_links_prose_and_trees() -> None:
    assert lines("`src/a.ts`, [b](docs/b.md#top), src/c/d.py and `errors.go`") == [
        "src/a.ts",
        "errors.go",
        "docs/b.md",
        "src/c/d.py",
    ]
    tree = "```\napp/\n├── src/\n│   ├── a.ts   # one\n│   └── deep/\n│       └── b.ts\n└── c.md\n```"
    assert lines(tree) == ["src/", "src/a.ts", "src/deep/", "src/deep/b.ts", "c.md"]


def test_commands_know_the_folder_that_they_run_in() -> None:
    text = "Run `make seed`.\n```bash\n$ cd web && npm run a   # comment\nnpm run b\n# npm run c\n```\n"
    text += "```bash\nnpm run d\n```\n```json\nnpm run e\n```\n"
    found = [(one.text, one.folder) for one in mentions.commands(parse(text)) if not one.text.startswith("cd")]
    assert found == [("make seed", ""), ("npm run a", "web"), ("npm run b", "web"), ("npm run d", "")]
