"""How strict redaction is, by project: strict takes more, normal never less than secrets; ids and paths stay."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from capture.event import Batch, Observation, Project, Prompt
from capture.redaction import redact, settings
from capture.seal import seal

PASSWORD = "password = '" + "q8Rt3vLm0" + "Zx7Kp2W'"
DRAWN = "8fk2Lq9Z" + "xT4mWv7RpN3c"
TAKEN = {
    "jane.doe@bigcorp.io": "email", "db-01.corp.internal": "host", "10.1.2.3": "address", "fd12:3456::1": "address",
    "9e063482-f731-4e87-a95d-2e07081bead2": "uuid", DRAWN: "token",
}  # fmt: skip
LEFT = (
    "git@github.com:owner/name.git", "noreply@bigcorp.io", "bob@example.com", "react@18.2.0", "threading.local()",
    "settings.local.json", "version 10.0.19041.1", "127.0.0.1:8080", "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "sphinx-doc__sphinx-8801",
    "test_the_second_of_2_windows_is_closed", "src/components/PasswordField.tsx:42", "cextern/wcslib/C/wcs.c",
)  # fmt: skip
CONFIG = """
[redaction]
words = ["Acme Ltd"]
[redaction.projects.shop]
sensitivity = "strict"
words = ["Falcon"]
patterns = [{ name = "ticket", regex = "TCK-[0-9]{6}" }]
[redaction.projects."/work/blog"]
sensitivity = "normal"
"""


@pytest.fixture
def config(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = own_home / "config.toml"
    monkeypatch.setenv("NMEM_CONFIG", str(file))
    monkeypatch.setattr(settings, "RECHECK", 0.0)
    return file


def write(file: Path, text: str, age: int) -> None:
    file.write_text(text)
    os.utime(file, ns=(10**18 + age, 10**18 + age))


def sealed(name: str, text: str) -> Batch:
    batch = Batch("claude", "9e063482-f731-4e87-a95d-2e07081bead2", 1, f"/work/{name}")
    batch.project = Project(f"/work/{name}", name, f"/work/{name}")
    batch.session["transcript_path"] = "/home/x/9e063482-f731-4e87-a95d-2e07081bead2.jsonl"
    said = Prompt(1, "user", "prompt", text, dedup_key="k")
    batch.prompts = [said, Prompt(1, "agent", "thinking", text, dedup_key="l")]
    seen = Observation(1, "command", text, dedup_key="m")
    seen.file_path, seen.metadata = "a/9e063482-f731-4e87-a95d-2e07081bead2.txt", {"response": text}
    batch.observations = [seen]
    return seal(batch).batch


def test_strict_takes_what_is_private_and_leaves_what_is_neither() -> None:
    with settings.Within((), strict=True):
        for text, kind in TAKEN.items():
            assert redact(f"see {text} there") == f"see [REDACTED:{kind}] there"
        assert [text for text in LEFT if redact(f"see {text} there") != f"see {text} there"] == []
    assert [text for text in TAKEN if redact(f"see {text} there") != f"see {text} there"] == []


def test_each_project_has_its_own_rules_and_secrets_go_at_each(config: Path) -> None:
    write(config, CONFIG, 1)
    text = f"ask jane.doe@bigcorp.io of acme ltd, falcon, TCK-123456, {PASSWORD}"
    end = "password = '[REDACTED:password]'"
    normal = f"ask jane.doe@bigcorp.io of [REDACTED:word], falcon, TCK-123456, {end}"
    strict = f"ask [REDACTED:email] of [REDACTED:word], [REDACTED:word], [REDACTED:ticket], {end}"
    for name, kept in (("blog", normal), ("shop", strict), ("blog", normal), ("other", normal)):
        batch = sealed(name, text)
        seen = batch.observations[0]
        assert {batch.prompts[0].content, batch.prompts[1].content, seen.content, seen.metadata["response"]} == {kept}
        assert batch.session_id.startswith("9e063482")
        assert "9e063482" in str(batch.session["transcript_path"])
        assert "9e063482" in str(seen.file_path)
    assert redact("falcon and jane.doe@bigcorp.io") == "falcon and jane.doe@bigcorp.io"


def test_all_may_be_strict_but_one(config: Path) -> None:
    write(config, CONFIG, 1)
    assert sealed("other", "10.1.2.3 is up").prompts[0].content == "10.1.2.3 is up"
    write(config, '[redaction]\nsensitivity = "strict"' + CONFIG.partition("[redaction]")[2], 2)
    assert sealed("other", "10.1.2.3 is up").prompts[0].content == "[REDACTED:address] is up"
    assert sealed("blog", "10.1.2.3 is up").prompts[0].content == "10.1.2.3 is up"


@pytest.mark.parametrize(
    "wrong", ["sensitivity = 'lax'", "sensitivity = 3", "words = ['ab']", "words = 'abc'", "odd = 1"]
)
def test_what_is_wrong_is_said_and_hides_no_less(config: Path, wrong: str) -> None:
    write(config, f"[redaction.projects.shop]\n{wrong}\n", 1)
    assert len(settings.problems()) == 1
    assert "q8Rt3vLm0" not in sealed("shop", PASSWORD).prompts[0].content
    if "sensitivity" in wrong:
        assert "10.1.2.3" not in sealed("shop", "10.1.2.3 is up").prompts[0].content
