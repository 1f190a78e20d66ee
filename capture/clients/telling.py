"""How each client accepts injected context: the output format, the events, and the size limit."""

from __future__ import annotations

from capture import clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.event import Event


def room(event: Event) -> int:
    """Bytes that the client takes in answer to this event; 0 when it does not listen."""
    client = clients.client(event.client)
    return client.most if event.native in client.listens else 0


def most(client: str) -> int:
    """Bytes that a client takes where it listens; 0 for one that never does."""
    return clients.client(client).most if clients.known(client) else 0


def form(event: Event, text: str) -> bytes:
    """What a hook prints so that the client gives this text to its model; nothing when it cannot."""
    client = clients.client(event.client)
    if event.native not in client.listens or not text:
        return b""
    from capture.jsonio import dumps

    told: dict[str, object] = {client.answers: text}
    if client.answers == clients.HOOK_OUTPUT:
        # nothing but these: Codex throws the whole answer away for one key that it does not know
        told = {client.answers: {"hookEventName": event.native, "additionalContext": text}}
    return dumps(told).encode("utf-8", "replace")
