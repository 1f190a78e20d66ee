"""`nmem init` gives an agent the tools, and `nmem uninstall` takes them back."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from capture.install import servers
from nmem.commands.init import command as init
from nmem.commands.uninstall import command as uninstall
from nmem.mcp import registration

CLIENTS = ("--client", "claude", "--client", "codex", "--client", "gemini")


@pytest.fixture
def home(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with settings of the user's own in each client."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    (own_home / "project").mkdir()
    monkeypatch.chdir(own_home / "project")
    for name, text in (
        (".claude.json", '{"numStartups": 3, "mcpServers": {"mine": {"command": "x"}}}'),
        (".codex/config.toml", 'model = "m"\n\n[mcp_servers.mine]\ncommand = "x"'),
        (".gemini/settings.json", '{\n  // mine\n  "theme": "dark"\n}\n'),
    ):
        (own_home / name).parent.mkdir(exist_ok=True)
        (own_home / name).write_text(text)
    return own_home


def run(command: object, *words: str, answers: str = "") -> Result:
    return CliRunner().invoke(command, list(words), input=answers)  # type: ignore[arg-type]


def files(home: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file() and "data" not in file.parts}


def test_every_client_gets_the_server_and_the_skill_and_loses_them_again(home: Path) -> None:
    before = files(home)
    done = run(init, *CLIENTS, "--yes")
    assert done.exit_code == 0, done.output
    claude = json.loads((home / ".claude.json").read_text())["mcpServers"]
    codex = tomllib.loads((home / ".codex" / "config.toml").read_text())["mcp_servers"]
    gemini = (home / ".gemini" / "settings.json").read_text()
    assert claude["mine"] == codex["mine"] == {"command": "x"}
    assert claude["nmem"] == codex["nmem"] == registration.server()
    assert "// mine" in gemini and '"mcpServers"' in gemini
    for folder in (".claude", ".codex", ".gemini"):
        assert (home / folder / "skills" / "nmem" / "SKILL.md").read_text() == registration.skill()
    for name in ("when", "how"):
        for folder in (".claude", ".codex"):
            assert (home / folder / "skills" / name / "SKILL.md").read_text() == registration.skill(name)
        command = tomllib.loads((home / ".gemini" / "commands" / f"{name}.toml").read_text())
        assert command.keys() == {"description", "prompt"} and f'["/{name} {{{{args}}}}"]' in command["prompt"]
        assert not (home / ".gemini" / "skills" / name).exists()
    assert "nothing to change" in run(init, *CLIENTS, "--yes").output
    run(uninstall, "--yes")
    assert files(home) == before
    assert not (home / ".claude").exists() and not (home / ".gemini" / "skills").exists()


def test_without_tools_there_are_hooks_alone(home: Path) -> None:
    before = files(home)
    run(init, *CLIENTS, "--yes", "--no-mcp")
    after = files(home)
    assert all("hooks" in name or "settings.json" in name for name in after.keys() - before.keys())
    assert "mcpServers" not in (home / ".gemini" / "settings.json").read_text()
    assert (home / ".claude.json").read_bytes() == before[str(home / ".claude.json")]


def test_one_question_for_each_clients_tools(home: Path) -> None:
    done = run(init, *CLIENTS, answers="n\nn\nn\ny\nn\nn\n")
    skills = [f"{home / '.claude' / 'skills' / name / 'SKILL.md'}" for name in ("nmem", "when", "how")]
    assert f"Write {' and '.join([str(home / '.claude.json'), *skills])}?" in done.output
    assert servers.is_ours(json.loads((home / ".claude.json").read_text())["mcpServers"]["nmem"])
    assert not (home / ".claude" / "settings.json").exists() and not (home / ".codex" / "skills").exists()


def test_what_is_not_ours_keeps_no_hook_from_being_registered(home: Path) -> None:
    (home / ".claude.json").write_text('{"mcpServers": {"nmem": {"command": "nmem", "args": ["serve"]}}}')
    (home / ".claude" / "skills" / "nmem").mkdir(parents=True)
    (home / ".claude" / "skills" / "nmem" / "SKILL.md").write_text("my own\n")
    done = run(init, "--client", "claude", "--yes")
    assert done.exit_code == 0, done.output
    assert "the file has another server called nmem" in done.output
    assert "SKILL.md exists and is not nmem's" in done.output
    assert (home / ".claude" / "settings.json").exists()
    run(uninstall, "--yes")
    assert (home / ".claude" / "skills" / "nmem" / "SKILL.md").read_text() == "my own\n"
    assert "serve" in (home / ".claude.json").read_text()


@pytest.mark.parametrize("own", ["commands/when.md", "skills/when/SKILL.md"])
def test_a_command_of_the_persons_own_is_not_hidden(home: Path, own: str) -> None:
    mine = home / ".claude" / own
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    before = files(home)
    done = run(init, "--client", "claude", "--yes")
    assert done.exit_code == 0 and str(mine) in done.output
    assert not (home / ".claude" / "skills" / "when" / "SKILL.md").exists() or mine.read_text() == "mine\n"
    assert (home / ".claude" / "skills" / "how" / "SKILL.md").exists()
    run(uninstall, "--yes")
    assert files(home) == before


def test_skills_of_another_project_go_with_the_folders_that_were_made_for_them(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(init, *CLIENTS, "--scope", "project", "--yes")
    monkeypatch.chdir(home)
    run(uninstall, "--yes")
    assert not list((home / "project").iterdir())


def test_a_projects_own_file_and_a_scope_without_one(home: Path) -> None:
    done = run(init, "--client", "claude", "--scope", "project", "--yes")
    project = home / "project"
    assert servers.is_ours(json.loads((project / ".mcp.json").read_text())["mcpServers"]["nmem"])
    assert "asks before it starts a project's server" in done.output
    run(uninstall, "--yes")
    assert not list(project.iterdir())
    assert "not registered for one project alone" in run(init, "--client", "claude", "--scope", "local", "--yes").output


def test_uninstall_keeps_what_others_wrote_meanwhile(home: Path) -> None:
    run(init, *CLIENTS, "--yes")
    state = json.loads((home / ".claude.json").read_text())
    (home / ".claude.json").write_text(json.dumps({**state, "numStartups": 4}, indent=2))
    with (home / ".codex" / "config.toml").open("a") as file:
        file.write("\n[profiles.new]\nmodel = 'n'\n")
    run(uninstall, "--yes")
    assert json.loads((home / ".claude.json").read_text()) == {
        "numStartups": 4,
        "mcpServers": {"mine": {"command": "x"}},
    }
    assert set(tomllib.loads((home / ".codex" / "config.toml").read_text())["mcp_servers"]) == {"mine"}


def test_a_database_elsewhere_is_named(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NMEM_DB", "/elsewhere/n.db")
    assert registration.server()["env"] == {"NMEM_DB": "/elsewhere/n.db"}
    monkeypatch.delenv("NMEM_DB")
    assert "env" not in registration.server()
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert registration.server()["env"] == {"NMEM_DB": "/data/nmem/nmem.db"}


def test_the_plugin_is_whole_and_of_this_version() -> None:
    folder = registration.plugin()
    manifest = json.loads((folder / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["name"] == "nmem" and manifest["version"] == version("nmem")
    (entry,) = json.loads((folder / ".mcp.json").read_text())["mcpServers"].values()
    assert servers.is_ours(entry)
    for name in ("nmem", "when", "how"):
        head = registration.skill(name).split("---")[1]
        assert f"name: {name}\n" in head and "from: nmem\n" in head
        described = next(line for line in head.splitlines() if line.startswith("description: "))
        assert len(described) < 1024
