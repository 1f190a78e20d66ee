"""Cleans and redacts every string of a batch, then cuts it to length; nothing is stored without it.

What nmem itself told the session is taken out of all of them, wherever a client or an agent repeated it.

A text is redacted on a window that is larger than what is kept of it, so a secret across the cut is whole when it is
looked for. Ids must stay distinct: one that holds a secret is replaced by its hash, not by a placeholder. They must
also stay what they are: the user's own patterns come and go, are for texts, and leave an id that they match alone.
"""

from __future__ import annotations

from capture.clients.said import BEGIN, strip_own
from capture.event import Batch, Observation, Project, Prompt
from capture.redaction import redact, redact_tree, settings
from capture.text import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LIMITS = {
    "content": 8_000,  # an observation's
    "prompt": 32_000,  # what was said, by anybody
    "path": 1_024,  # also folders and remotes
    "name": 200,  # names of tools, models, branches, kinds
    "id": 200,
    "field": 60,  # of a payload
    "value": 4_000,  # one string of the metadata
}
"""Characters that are kept, by kind of field."""

DEEPEST = 24
"""Levels of metadata that are kept."""

MARGIN = 4_096
"""Characters beyond the limit that redaction looks at."""

_SECRET = object()
_plain: set[str] = set()
"""Short strings known to hold nothing: an import sees the same folders, names and ids in every record."""
_plain_ids: set[str] = set()
_MOST_PLAIN = 4_096
_plain_by: list[settings.Settings | None] = [None]
"""The rules by which they are."""
_others: list[None] = []
"""One for each batch that is being sealed by rules of its project: then nothing is known of short strings."""
_PLACES = frozenset(("path", "name"))
"""Kinds of fields by which things are found again: sensitivity "strict" is for texts."""
_IDS = frozenset(("id", "parent_id", "prompt_id"))
_PATHS = frozenset(("cwd", "transcript_path", "project_dir", "root", "folder"))
_PROMPT = ("at", "source", "kind", "content", "dedup_key", "native_id", "agent_id")
_PROJECT = ("key", "name", "root", "remote", "branch")
_BATCH = ("client", "session_id", "at", "cwd", "origin", "session", "redactions", "drift")


class Sealed:
    """A batch in which no secret is left; only `seal` and the spool make one."""

    __slots__ = ("batch",)

    def __init__(self, batch: Batch, key: object) -> None:
        if key is not _SECRET:
            raise TypeError("only capture.seal.seal makes a Sealed")
        self.batch = batch

    def to_dict(self) -> dict[str, object]:
        """A JSON-like form for the spool."""
        batch = self.batch
        out: dict[str, object] = {name: getattr(batch, name) for name in _BATCH}
        out["drift"] = list(batch.drift)
        out["project"] = batch.project and {name: getattr(batch.project, name) for name in _PROJECT}
        out["prompts"] = [{name: getattr(prompt, name) for name in _PROMPT} for prompt in batch.prompts]
        out["observations"] = [
            {name: getattr(seen, name) for name in Observation.__slots__} for seen in batch.observations
        ]
        return out

    @classmethod
    def from_dict(cls, form: dict[str, object]) -> Sealed:
        """What `to_dict` gave. Raises KeyError, TypeError or ValueError when it is something else."""
        batch = Batch(*(form[name] for name in ("client", "session_id", "at", "cwd", "origin")))  # type: ignore[arg-type]
        batch.session = _dict(form["session"])
        batch.redactions = _dict(form["redactions"])  # type: ignore[assignment]
        batch.drift = tuple(str(field) for field in _list(form["drift"]))
        if form["project"] is not None:
            batch.project = Project(**_dict(form["project"]))  # type: ignore[arg-type]
        batch.prompts = [Prompt(**_dict(item)) for item in _list(form["prompts"])]  # type: ignore[arg-type]
        for item in _list(form["observations"]):
            fields = _dict(item)
            seen = Observation(fields["at"], fields["obs_type"], fields["content"], dedup_key=fields["dedup_key"])  # type: ignore[arg-type]
            for name in Observation.__slots__:
                setattr(seen, name, fields[name])
            batch.observations.append(seen)
        return cls(batch, _SECRET)


def _dict(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise TypeError(f"a JSON object was expected, not {type(value).__name__}")
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError(f"a JSON array was expected, not {type(value).__name__}")
    return value


def seal(batch: Batch) -> Sealed:
    """Clean, redact and cut every string of the batch, in place; counts by kind go to its `redactions`.

    By the rules of its project, where a person has made any.
    """
    rules = settings.base()
    if rules is not _plain_by[0]:
        _plain.clear()
        _plain_by[0] = rules
    if not (rules.projects or rules.strict):
        return _sealed(batch)
    from capture.project import resolve  # on use: a hook has it, what else stores rarely needs it

    project = batch.project or resolve(batch.cwd)
    _others.append(None)
    try:
        with settings.Within((project.name, project.root, project.key)):
            return _sealed(batch)
    finally:
        _others.pop()


def _sealed(batch: Batch) -> Sealed:
    counts = batch.redactions
    batch.client = _text(batch.client, "name", counts)
    batch.session_id = identity(batch.session_id)
    batch.cwd = _text(batch.cwd, "path", counts)
    batch.origin = _text(batch.origin, "name", counts)
    batch.session = {_text(name, "name", counts): _column(name, value, counts) for name, value in batch.session.items()}
    batch.drift = tuple(_field(field, counts) for field in batch.drift)
    if batch.project is not None:
        _seal_project(batch.project, counts)
    for prompt in batch.prompts:
        _seal_prompt(prompt, counts)
    for seen in batch.observations:
        _seal_observation(seen, counts)
    return Sealed(batch, _SECRET)


def _seal_project(project: Project, counts: dict[str, int]) -> None:
    root, called = project.root, project.name
    project.key = _text(project.key, "path", counts)
    project.name = _text(project.name, "path", counts)
    project.root = _text(project.root, "path", counts)
    project.remote = _text(project.remote, "path", counts)
    project.branch = _text(project.branch, "path", counts)
    if project.root != root and root.endswith(called):
        # alone, the end of a path does not say what its beginning gave away
        project.name = project.root.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _seal_prompt(prompt: Prompt, counts: dict[str, int]) -> None:
    prompt.source = _text(prompt.source, "name", counts)
    prompt.kind = _text(prompt.kind, "name", counts)
    prompt.content = _text(prompt.content, "prompt", counts)
    prompt.dedup_key = identity(prompt.dedup_key)
    prompt.native_id = identity(prompt.native_id)
    prompt.agent_id = identity(prompt.agent_id)


def _seal_observation(seen: Observation, counts: dict[str, int]) -> None:
    seen.obs_type = _text(seen.obs_type, "name", counts)
    seen.content = _text(seen.content, "content", counts)
    seen.outcome = _text(seen.outcome, "name", counts)
    seen.tool_name = _text(seen.tool_name, "name", counts)
    if seen.file_path is not None:
        seen.file_path = _text(seen.file_path, "path", counts)
    seen.dedup_key = identity(seen.dedup_key)
    seen.tool_use_id = identity(seen.tool_use_id)
    seen.agent_id = identity(seen.agent_id)
    seen.turn_id = identity(seen.turn_id)
    seen.metadata = {_text(name, "name", counts): _tree(value, counts, name) for name, value in seen.metadata.items()}


def _column(name: str, value: object, counts: dict[str, int]) -> object:
    if not isinstance(value, str):
        return _tree(value, counts, name)
    if name in _IDS:
        return identity(value)
    return _text(value, "path" if name in _PATHS else "value", counts)


def _text(text: str, field: str, counts: dict[str, int]) -> str:
    limit = LIMITS[field]
    if text in _plain and len(text) <= limit and not _others:
        return text
    if BEGIN in text:
        text = strip_own(text)
    if len(text) > limit:
        text = text[: 2 * limit + MARGIN]
    place = field in _PLACES
    kept = redact(clean(text), counts, place=place)[:limit]
    if kept == text and len(text) <= LIMITS["name"] and not _others:
        _note(text, _plain)
    return kept


def _note(text: str, known: set[str]) -> None:
    if len(known) >= _MOST_PLAIN:
        known.clear()
    known.add(text)


def names(fields: Iterable[str]) -> tuple[str, ...]:
    """Names of fields that nobody knew, of a payload that nothing else was made of."""
    return tuple(_field(field, {}) for field in fields)


def _field(name: str, counts: dict[str, int]) -> str:
    """The name of a field that nobody knew, as long as it is one: a key may as well be data, and data may be secret."""
    from capture.redaction.verdict import random_looking  # on use: start-up stays short

    kept = redact(clean(name), counts)
    if kept == name and len(name) <= LIMITS["field"] and name.isascii():
        bare = name.replace("_", "").replace("-", "").replace(".", "")
        if bare.isalnum() and not random_looking(name):
            return name
    return _hashed(name, 4)


def _hashed(value: str, size: int = 16) -> str:
    from _blake2 import blake2b  # on use: start-up stays short

    return "~" + blake2b(value.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def identity(value: str) -> str:
    """An id as it is, unless it is overlong or holds a secret: then a hash that is as distinct."""
    if not value:
        return value
    if value in _plain_ids:
        return value
    if len(value) <= LIMITS["id"] and redact(clean(value), own=False) == value:
        _note(value, _plain_ids)
        return value
    return _hashed(value)


def _tree(value: object, counts: dict[str, int], name: str) -> object:
    return _cut(redact_tree(_cleaned(value), counts, name))


def _cleaned(value: object, depth: int = 0) -> object:
    if depth > DEEPEST:
        return "…"
    if isinstance(value, str):
        if BEGIN in value:
            value = strip_own(value)
        return clean(value[: 2 * LIMITS["value"] + MARGIN])
    if isinstance(value, dict):
        return {clean(str(key)[: LIMITS["name"] + MARGIN]): _cleaned(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item, depth + 1) for item in value]
    return value


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[: LIMITS["value"]]
    if isinstance(value, dict):
        return {str(key)[: LIMITS["name"]]: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
