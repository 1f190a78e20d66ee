"""Gemini writes a resumed session's whole history anew, with new times and ids: it was read before."""

from __future__ import annotations

from capture.event import PROMPT
from capture.transcript.gemini import GeminiReader
from capture.transcript.reading import Source

HISTORY: list[dict[str, object]] = [
    {"id": "a", "timestamp": "2026-03-01T10:00:00.000Z", "type": "user", "content": [{"text": "Why is it slow?"}]},
    {"id": "b", "timestamp": "2026-03-01T10:00:09.000Z", "type": "gemini", "content": "It sorts twice."},
]
AGAIN: dict[str, object] = {
    "$set": {"messages": [{**one, "id": f"new-{one['id']}", "timestamp": "2026-03-01T11:00:00Z"} for one in HISTORY]}
}


def prompts(reader: GeminiReader, records: list[dict[str, object]]) -> list[str]:
    events = [event for at, record in enumerate(records) for event in reader.feed(record, at)]
    return [event.text for event in events if event.kind == PROMPT]


def test_history_written_again_tells_nothing_new() -> None:
    reader = GeminiReader(Source("gemini", "/chat.jsonl", "s"))
    assert prompts(reader, [*HISTORY, AGAIN]) == ["Why is it slow?"]


def test_nor_does_it_to_a_reader_that_goes_on_in_the_middle() -> None:
    first, second = (GeminiReader(Source("gemini", "/chat.jsonl", "s")) for _ in range(2))
    assert prompts(first, HISTORY) == ["Why is it slow?"]
    second.restore(first.state())
    assert prompts(second, [AGAIN]) == []


def test_a_file_that_begins_with_its_messages_is_read() -> None:
    reader = GeminiReader(Source("gemini", "/chat.jsonl", "s"))
    assert prompts(reader, [AGAIN]) == ["Why is it slow?"]
    assert [event.text for event in reader.turn_end()] == ["It sorts twice."]
