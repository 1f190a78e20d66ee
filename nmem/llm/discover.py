"""Finds model servers on this machine: three well-known ports on loopback only."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from nmem.llm.backend import Cancel, Failure
from nmem.llm.config import Settings
from nmem.llm.outgoing import untagged
from nmem.llm.wire import Limits, exchange

Place = tuple[str, int]
PORTS: tuple[Place, ...] = (("LM Studio", 1234), ("Ollama", 11434), ("llama.cpp", 8080))
_QUICK = Limits(connect=0.25, call=0.8, size=256 * 1024)
_NOT_FOR_TEXT = ("embed", "rerank", "whisper", "tts", "clip")


@dataclass(frozen=True, slots=True)
class Server:
    """A server that listed its models."""

    name: str
    base_url: str
    models: tuple[str, ...]


def servers(cancel: Cancel | None = None, ports: Sequence[Place] = PORTS) -> list[Server]:
    """The servers that answer on loopback, in the order of `ports`; under a second even when none does."""
    waiting = cancel or Cancel()
    with ThreadPoolExecutor(len(ports) or 1) as pool:
        found = list(pool.map(lambda place: _ask(place, waiting), ports))
    return [server for server in found if server]


def settle(settings: Settings, cancel: Cancel | None = None, ports: Sequence[Place] = PORTS) -> Settings | None:
    """Settings with a place to ask: as configured, else the first loopback server with a model; None without one."""
    if not settings.enabled or settings.command:
        return settings if settings.enabled else None
    if settings.base_url:
        return settings if settings.model else replace(settings, model=_first_model(settings, cancel or Cancel()))
    for server in servers(cancel, ports):
        wanted = [model for model in server.models if model == settings.model] if settings.model else server.models
        if wanted:
            # A key belongs to a configured endpoint, never to whatever happens to listen on a port.
            return replace(settings, base_url=server.base_url, model=wanted[0], key="")
    return None


def models(base_url: str, key: str, limits: Limits, cancel: Cancel) -> tuple[str, ...]:
    """Names of the models an endpoint lists, those for text first; empty when it does not answer as one should."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        answer = exchange("GET", f"{base_url}/models", headers, None, limits, cancel)
    except Failure:
        return ()
    body = answer.json() if answer.status == 200 else None
    rows = body.get("data") if isinstance(body, dict) else None
    names = [row.get("id") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    fit = [name for name in names if isinstance(name, str) and 0 < len(name) <= 200 and untagged(name) == name]
    return tuple(sorted(fit[:100], key=lambda name: any(word in name.lower() for word in _NOT_FOR_TEXT)))


def _ask(place: Place, cancel: Cancel) -> Server | None:
    name, port = place
    base_url = f"http://127.0.0.1:{port}/v1"
    names = models(base_url, "", _QUICK, cancel)
    return Server(name, base_url, names) if names else None


def _first_model(settings: Settings, cancel: Cancel) -> str:
    limits = Limits(settings.connect_seconds, min(5.0, settings.call_seconds))
    return next(iter(models(settings.base_url, settings.key, limits, cancel)), "")
