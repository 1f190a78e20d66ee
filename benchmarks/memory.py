"""How good the memory is: retrieval, decisions, boundaries, beside what others publish, each with its source.

Everything is what `nmem eval` measures, on the same material. What is others' own figure on other material says so: it
is no comparison line by line. Where the material is absent the row says that instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import figures, material
from benchmarks.sizes import Say
from nmem.errors import NmemError
from nmem.evaluate import boundaries, recall, retrieval

Row = dict[str, str]

DEJA_VU = "deja-vu, built from its source, on 37 other issues and 11 other tasks of the same benchmarks, not tuned on"
SUPERDIALSEG = "the paper of SuperDialseg (18 models on these sets), as the README of the material quotes it"
MODEL = "asked once a session by `nmem eval boundaries --method llm`, sessions that no table holds: docs/boundaries.md"
FOLDED = {True: ".382", False: ".449"}
"""F1 at the prompt and revised, in nested folds by person: copied from docs/boundaries.md, which says how."""
SEGMENTED = {
    "tiage": ("TIAGE", "TextTiling .204, CSM .427, DialSTART .378, RoBERTa supervised .572"),
    "superdialseg": ("SuperDialseg", "TextTiling .388, CSM .381, DialSTART .627, RoBERTa supervised .784"),
    "dialseg711": ("DialSeg711", "TextTiling .245, CSM .610, DialSTART .733"),
}


def measured(data: Path, say: Say) -> dict[str, Any]:
    """Rows of the table: what, nmem, baseline, others, source."""
    rows: list[Row] = []
    for name, part in PARTS.items():
        say(name)
        try:
            rows += part(data)
        except (FileNotFoundError, NotADirectoryError):
            rows.append(row(f"{name}: not measured, the material is not in {data.name}/"))
        except NmemError as error:
            rows.append(row(f"{name}: not measured, {error}"))
    return {"commit": figures.commit(), "machine": figures.machine(), "rows": rows}


def row(what: str, ours: str = "", baseline: str = "", others: str = "", source: str = "") -> Row:
    """One line of the table."""
    return {"what": what, "nmem": ours, "baseline": baseline, "others": others, "source": source}


def ranks(found: dict[str, Any]) -> str:
    """hit@1, hit@5, mean reciprocal rank."""
    return " / ".join(figures.share(found[key]) for key in ("hit_at_1", "hit_at_5", "mrr"))


def told(found: dict[str, Any]) -> str:
    """How often what is told names it, and what that takes."""
    return f"{figures.share(found['told_rate'])} at {found['told_tokens']:.0f} tokens"


def retrieved(data: Path) -> Iterator[Row]:
    """The earlier session that an issue's related one is."""
    with material.retrieved(data) as some:
        found = retrieval.evaluate(some.path, some.asked, some.now)
    count, plain = found["n"], f"BM25 over whole sessions {ranks(found['bm25'])}"
    head = "hit@1 / hit@5 / MRR of the session that answers"
    yield row(
        f"{head} an issue's title, {count} issues", ranks(found["search"]), plain, "deja-vu .43 / .65 / .54", DEJA_VU
    )
    yield row(f"{head} the whole issue", ranks(found["search_long"]), "", "deja-vu .49 / .65 / .57", DEJA_VU)
    yield row("a first prompt is told of that session", told(found),
              "", "deja-vu .41 at 292 tokens", DEJA_VU)  # fmt: skip


def decided(data: Path) -> Iterator[Row]:
    """The conversation that settled what a task hinges on."""
    with material.decided(data) as some:
        found = retrieval.evaluate(some.path, some.asked, some.now)
    plain = f"BM25 over whole sessions {ranks(found['bm25'])}"
    head = f"hit@1 / hit@5 / MRR of the conversation that decided, {found['n']} tasks by title"
    yield row(head, ranks(found["search"]), plain, "deja-vu .82 / 1.0 / .89", DEJA_VU)
    yield row("a first prompt is told of that conversation", told(found),
              "", "deja-vu .64 at 348 tokens", DEJA_VU)  # fmt: skip
    if found["superseded_first"] is not None:
        yield row(
            "told the older decision first where a newer one replaced it", figures.share(found["superseded_first"])
        )


def recalled(data: Path) -> Iterator[Row]:
    """Written decisions, by what one would ask."""
    place = data / "recall" / "after" / "agents"
    queries, nonsense = (recall.records([data / "recall" / f"{name}.jsonl"]) for name in ("queries.after", "negatives"))
    found: dict[str, Any] = recall.evaluate(place / "memory-index.md", place / "decisions", queries, nonsense)
    base = found["baseline"]
    others = "hit@1: FTS5 BM25 with section bodies .778, the original fuzzy engine .418"
    yield row(f"hit@1 / hit@5 / MRR of the written decision, {found['n']} questions", ranks(found),
              f"{base['name']} {ranks(base)}", others, "on the same corpus, the README of the material")  # fmt: skip


def bounded(data: Path) -> Iterator[Row]:
    """Where episodes begin, in work with agents and in dialogues."""
    files = [data / "episodes" / name for name in ("sessions.jsonl", "sessions_more.jsonl")]
    for online, label in ((True, "at the prompt"), (False, "revised after its turn")):
        found = boundaries.evaluate(boundaries.records(files), online=online)
        ours = (f"{figures.share(found['f1'])} in sample, {FOLDED[online]} on persons not fitted on"
                " (of another run: docs/boundaries.md)")  # fmt: skip
        plain = f"jaccard {figures.share(found['baseline']['f1'])}"
        yield row(f"F1 of where an episode begins, {label}, {found['sessions']} sessions", ours,
                  plain, "a language model .74 to .84", MODEL)  # fmt: skip
    for name, (label, others) in SEGMENTED.items():
        found = boundaries.evaluate(boundaries.records([data / "segmentation" / f"{name}.jsonl"]))
        yield row(f"F1 of topics in dialogues, {label}", f"{figures.share(found['f1'])} in sample",
                  f"jaccard {figures.share(found['baseline']['f1'])}", others, SUPERDIALSEG)  # fmt: skip


PARTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "retrieval": retrieved, "decisions": decided, "written decisions": recalled, "boundaries": bounded,
}  # fmt: skip


def says(found: dict[str, Any]) -> str:
    """The table; a source is told once."""
    sources = list(dict.fromkeys(each["source"] for each in found["rows"] if each["source"]))
    rows = [
        [
            each["what"],
            each["nmem"],
            each["baseline"],
            f"{each['others']} [{sources.index(each['source']) + 1}]" if each["source"] else "",
        ]
        for each in found["rows"]
    ]
    told = "; ".join(f"[{number}] {source}" for number, source in enumerate(sources, 1))
    text = figures.markdown(["what", "nmem", "baseline in the same run", "others"], rows)
    return f"{text}\n\n{f'Others: {told}. ' if told else ''}Commit {found['commit']}; {found['machine']}."
