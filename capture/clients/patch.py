"""Parses patches and unified diffs of edited files, and counts the lines added and removed."""

from __future__ import annotations

from capture.clients.fields import items, mapping, text

_HEADERS = (("*** Update File: ", ""), ("*** Add File: ", "add"), ("*** Delete File: ", "delete"))


def change(path: str, old: str = "", new: str = "", *, created: bool | None = None) -> dict[str, object]:
    """One file of an edit, with the lines that differ counted."""
    removed, added = differing(old, new)
    return {"path": path, "old": old, "new": new, "patch": "", "added": added, "removed": removed, "created": created}


def differing(old: str, new: str) -> tuple[int, int]:
    """Lines gone and lines come, not counting the equal ones around them."""
    if old == new:
        return 0, 0
    if not old:
        return 0, new.count("\n") + (not new.endswith("\n"))
    before, after = old.split("\n"), new.split("\n")
    # the empty text behind a last newline is not a line
    if not before[-1]:
        before.pop()
    if not after[-1]:
        after.pop()
    least, head, tail = min(len(before), len(after)), 0, 0
    while head < least and before[head] == after[head]:
        head += 1
    while tail < least - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return len(before) - head - tail, len(after) - head - tail


def counted(lines: list[object]) -> tuple[int, int]:
    """Lines added and removed in the body of a hunk."""
    added = removed = 0
    for line in lines:
        if isinstance(line, str):
            added += line.startswith("+")
            removed += line.startswith("-")
    return added, removed


def take_hunks(file: dict[str, object], hunks: object) -> bool:
    """Fill a file from a structured patch: its lines, and the patch as text; False when there is none."""
    bodies = [items(mapping(hunk).get("lines")) for hunk in items(hunks)]
    if not any(bodies):
        return False
    pairs = [counted(body) for body in bodies]
    file["added"] = sum(pair[0] for pair in pairs)
    file["removed"] = sum(pair[1] for pair in pairs)
    file["patch"] = "\n".join("\n".join(["@@", *[text(line) for line in body]]) for body in bodies)
    return True


def take_unified(file: dict[str, object], diff: str) -> bool:
    """Fill a file from a unified diff; False when the text holds no hunk."""
    start = 0 if diff.startswith("@@") else diff.find("\n@@") + 1
    if not diff.startswith("@@", start):
        return False
    body: list[object] = list(diff[start:].split("\n"))
    file["added"], file["removed"] = counted(body)
    file["patch"] = diff[start:]
    return True


def apply_patch(envelope: str) -> list[dict[str, object]]:
    """The files of a `*** Begin Patch` envelope, in its order; lines outside a file's section are ignored."""
    files: list[dict[str, object]] = []
    bodies: list[list[str]] = []
    for line in envelope.replace("\r\n", "\n").split("\n"):
        file = _section(line)
        if file is not None:
            files.append(file)
            bodies.append([])
        elif not files or line.startswith(("*** Begin Patch", "*** End Patch", "*** End of File")):
            continue
        elif line.startswith("*** Move to: "):
            files[-1]["moved_from"] = files[-1]["path"]
            files[-1]["path"] = line[len("*** Move to: ") :].strip()
        else:
            bodies[-1].append(line)
    for file, body in zip(files, bodies, strict=True):
        _fill(file, body)
    return files


def _section(line: str) -> dict[str, object] | None:
    """The file that a section's header opens."""
    for header, kind in _HEADERS:
        if line.startswith(header):
            file = change(line[len(header) :].strip(), created=kind == "add")
            if kind == "delete":
                file["deleted"] = True
            return file
    return None


def _fill(file: dict[str, object], body: list[str]) -> None:
    """A section's lines as the text before, the text after, and the patch."""
    kept = [line for line in body if line[:1] in "+- " and line]
    file["old"] = "\n".join(line[1:] for line in kept if line[0] == "-")
    file["new"] = "\n".join(line[1:] for line in kept if line[0] == "+")
    file["added"] = sum(line[0] == "+" for line in kept)
    file["removed"] = sum(line[0] == "-" for line in kept)
    if file.get("deleted") is True:
        file["removed"] = None
    file["patch"] = "\n".join(body).strip("\n")
