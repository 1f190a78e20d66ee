"""Converts search results to JSON for other programs: a short list of hits, each readable in full by its id."""

from __future__ import annotations

from nmem.hours import utc
from nmem.search.facets import Facet
from nmem.search.search import Hit, Results

Json = dict[str, object]


def index(found: Results) -> Json:
    """Results as JSON takes them; what is empty is left out, but the hits."""
    return {"found": found.found, "hits": [hit(one) for one in found.hits]} | _filled({
        "more": found.more,
        "facets": _filled({"type": _counts(found.facets.kinds + found.facets.types),
                           "project": _counts(found.facets.projects), "client": _counts(found.facets.clients)}),
        "remarks": list(found.remarks),
        "next": found.next,
    })  # fmt: skip


def hit(one: Hit) -> Json:
    """One line of the index: enough to choose by."""
    type_ = one.type if one.kind == "obs" else one.kind
    at = utc(one.at).strftime("%Y-%m-%dT%H:%MZ")
    return _filled({
        "id": one.id, "type": type_, "at": at, "project": one.project, "text": one.snippet.text,
        "path": "" if one.path in one.snippet.text else one.path, "failed": one.outcome == "failed",
        "pinned": one.pinned, "times": one.times if one.times > 1 else 0,
        "superseded_by": one.superseded, "beneath": f"episode/{one.episode}" if one.beneath else "",
    })  # fmt: skip


def _counts(counts: tuple[Facet, ...]) -> Json:
    return {one.value: one.count for one in counts}


def _filled(form: Json) -> Json:
    return {name: value for name, value in form.items() if value}
