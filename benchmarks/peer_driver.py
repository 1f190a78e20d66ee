"""Runs inside the environment of a peer: `python peer_driver.py PEER GIVEN FOUND`, where none of nmem is installed.

GIVEN is JSON: {"texts": [[title, text], ...], "queries": [...], "most": hits to ask for}. Each text is written and each
query asked through the functions that the peer's own server calls; FOUND becomes {"write_ms": [...], "search_ms":
[...], "found": [[title, ...], ...], "memory_mb": ...}.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

Write = Callable[[str, str], Awaitable[object]]
Search = Callable[[str, int], Awaitable[list[str]]]


def mcp_memory_service() -> tuple[Write, Search]:
    """Its storage, as its tools store_memory and retrieve_memory use it; a title is a tag."""
    client = import_module("mcp_memory_service.api.client")
    memory = import_module("mcp_memory_service.models.memory").Memory
    hashed = import_module("mcp_memory_service.utils.hashing").generate_content_hash

    async def write(title: str, text: str) -> object:
        storage = await client.get_storage_async()
        return await storage.store(memory(content=text, content_hash=hashed(text), tags=[title], memory_type="note"))

    async def search(query: str, most: int) -> list[str]:
        storage = await client.get_storage_async()
        return [str(each.memory.tags[0]) for each in await storage.retrieve(query, n_results=most)]

    return write, search


def basic_memory() -> tuple[Write, Search]:
    """Its tools write_note and search_notes."""
    tools = import_module("basic_memory.mcp.tools")

    async def write(title: str, text: str) -> object:
        return await tools.write_note(title=title, content=text, directory="notes", output_format="json")

    async def search(query: str, most: int) -> list[str]:
        found = await tools.search_notes(query=query, page_size=most, output_format="json")
        return [str(each["title"]) for each in found["results"]] if isinstance(found, dict) else []

    return write, search


PEERS: dict[str, Callable[[], tuple[Write, Search]]] = {
    "mcp-memory-service": mcp_memory_service, "basic-memory": basic_memory,
}  # fmt: skip


async def measured(peer: str, given: dict[str, Any]) -> dict[str, Any]:
    """Write everything, then ask everything; the first search, which loads what is loaded late, is not counted."""
    write, search = PEERS[peer]()
    took: dict[str, list[float]] = {"write": [], "search": []}
    for title, text in given["texts"]:
        begun = time.perf_counter()
        await write(title, text)
        took["write"].append(1000 * (time.perf_counter() - begun))
    await search(given["queries"][0], 1)
    found = []
    for query in given["queries"]:
        begun = time.perf_counter()
        found.append(await search(query, int(given["most"])))
        took["search"].append(1000 * (time.perf_counter() - begun))
    status = Path("/proc/self/status").read_text()
    memory = next(int(line.split()[1]) / 1000 for line in status.splitlines() if line.startswith("VmRSS"))
    return {"write_ms": took["write"], "search_ms": took["search"], "found": found, "memory_mb": memory}


if __name__ == "__main__":
    result = asyncio.run(measured(sys.argv[1], json.loads(Path(sys.argv[2]).read_text("utf-8"))))
    Path(sys.argv[3]).write_text(json.dumps(result), "utf-8")
