"""Nothing leaves `seal` unredacted, whatever field it came in, and cutting never leaves half a secret."""

from __future__ import annotations

import json

import pytest

from capture.event import TOOL_RESULT, Batch, Event, Observation, Project, Prompt
from capture.extract.tools import _mcp
from capture.seal import LIMITS, Sealed, seal

AT = 1_760_000_000_000


def batch(text: str) -> Batch:
    """A batch with this text in every string."""
    made = Batch(text, text, AT, text, text)
    made.project = Project(text, text, text, text, text)
    made.session = {"cwd": text, "branch": text, "transcript_path": text, "model": text, "parent_id": text, "x": 1}
    made.drift = (text,)
    made.prompts = [Prompt(AT, text, text, text, dedup_key=text, native_id=text, agent_id=text)]
    seen = Observation(AT, text, text, dedup_key=text)
    for name in ("outcome", "tool_name", "tool_use_id", "agent_id", "turn_id", "file_path"):
        setattr(seen, name, text)
    seen.metadata = {text: {"deep": [text, {"deeper": text, text: 1}]}, "n": 1, "none": None}
    made.observations = [seen]
    return made


@pytest.mark.parametrize("around", ["{}", "x {} y", "https://u:{}@h.example/a.git", "/home/a/{}/b", "\x1b[1m{}\x1b[0m"])
def test_no_field_keeps_a_secret(planted: dict[str, str], around: str) -> None:
    for token in planted.values():
        sealed = seal(batch(around.format(token)))
        assert token not in json.dumps(sealed.to_dict(), ensure_ascii=False)


def test_a_secret_across_the_cut_leaves_no_half(planted: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The first at the cuts as they are, the others at nearer ones: most of a long text says nothing of its cut."""
    for number, token in enumerate(planted.values()):
        if number == 1:
            monkeypatch.setitem(LIMITS, "content", 600)
            monkeypatch.setitem(LIMITS, "prompt", 1_200)
        for field, name in (("content", "observations"), ("prompt", "prompts")):
            for before in range(1, len(token), max(1, len(token) // 4)):
                text = "word " * (LIMITS[field] // 5)
                text = text[: LIMITS[field] - before - 1] + " " + token + " tail" * 1200
                made = batch("plain")
                getattr(made, name)[0].content = text
                kept = str(getattr(seal(made).batch, name)[0].content)
                assert token[: max(8, before)] not in kept or before < 8
                assert len(kept) <= LIMITS[field]


def test_what_the_agent_calls_an_episode_keeps_no_half_of_a_secret(planted: dict[str, str]) -> None:
    for token in planted.values():
        for before in (180, 190, 196):
            title = "word " * 60
            title = f"{title[: before - 1]} {token} tail"
            event = Event("claude", TOOL_RESULT, "s", AT)
            event.tool_name, event.tool = "mcp__nmem__episode", "mcp"
            event.tool_input = {"server": "nmem", "tool": "episode", "arguments": {"title": title, "resumes": title}}
            seen = _mcp(event, Project("/w", "w", "/w"))
            made = batch("plain")
            made.observations = [seen]
            kept = json.dumps(seal(made).to_dict())
            assert "word word" in str(seen.metadata["episode"])
            assert token[:12] not in kept


def test_ids_stay_as_they_are_and_distinct_ones_stay_distinct(planted: dict[str, str]) -> None:
    plain = ["toolu_01AbCdEfGhIjKlMnOpQrStUv", "3f2504e0-4f89-11d3-9a0c-0305e82c3301", "p" + "0a1b2c3d" * 4 + ".4",
             "call_Ab12Cd34Ef56Gh78", "session_start:startup:176000", "toolu_01AbC#1"]  # fmt: skip
    tokens = list(planted.values())
    kept = [seal(batch(text)).batch.observations[0].dedup_key for text in plain + tokens]
    assert kept[: len(plain)] == plain
    assert len(set(kept)) == len(plain) + len(tokens)


def test_counts_by_kind_are_in_the_batch() -> None:
    made = batch("plain")
    made.observations[0].content = "export DB_PASSWORD=" + "kq7Zt9wPx2" + "mVb"
    made.prompts[0].content = "token = '" + "q8Rt3vLm0" + "Zx7Kp2W'"
    assert seal(made).batch.redactions == {"password": 1, "token": 1}


def test_the_spool_form_comes_back_whole() -> None:
    form = seal(batch("some text")).to_dict()
    again = Sealed.from_dict(json.loads(json.dumps(form)))
    assert again.to_dict() == json.loads(json.dumps(form))


@pytest.mark.parametrize("broken", [{}, {"client": "a"}, {"project": 3}])
def test_a_broken_spool_form_is_refused(broken: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Sealed.from_dict(broken)


def test_nobody_else_makes_a_sealed() -> None:
    with pytest.raises(TypeError):
        Sealed(batch("x"), object())


def test_a_bottomless_tree_is_cut() -> None:
    deep: object = "end"
    for _ in range(5_000):
        deep = [deep]
    made = batch("plain")
    made.observations[0].metadata = {"deep": deep}
    assert "…" in json.dumps(seal(made).to_dict(), ensure_ascii=False)
