"""Words a report of a project's instructions: as rows for a terminal, and as JSON."""

from __future__ import annotations

from collections import Counter
from typing import Any

from nmem.native.documents import ALWAYS, Document
from nmem.native.review import IMPORT, KINDS, PATH, SCRIPT, Finding, Report
from nmem.text import counted, fit, printable

_HEAVY, _LISTED = 3, 6
_NOTHING = "nothing that the records prove stale, contradicted or repeated"
_LINE = 200
_NOUNS = (PATH, IMPORT, SCRIPT)
Rows = list[tuple[str, str]]


def summary(report: Report) -> str:
    """How many findings of which kind, or that there is none."""
    if not report.documents:
        return "no file of instructions here: no CLAUDE.md, AGENTS.md or GEMINI.md, and no memory of a client"
    counts = Counter(one.kind for one in report.findings)
    return ", ".join(_several(counts[kind], kind) for kind in KINDS if counts[kind]) or _NOTHING


def _several(number: int, kind: str) -> str:
    """2 stale commands; what is no noun (contradicted) stays."""
    return f"{number} {kind}{'s' if kind in _NOUNS and number != 1 else ''}"


def heading(document: Document) -> str:
    """A file, and what it costs whom."""
    by = f", imported by {document.imported_by}" if document.imported_by else ""
    out = "; a link out of the project, so no diff touches it" if document.leads_out else ""
    return f"{document.shown}: {document.tokens:,} tokens {document.loaded} ({', '.join(document.clients)}{by}){out}"


def rows(report: Report, document: Document) -> Rows:
    """The findings of a file: where and why, then the line and the evidence as they stand."""
    out: Rows = []
    for one in report.findings:
        if one.file == document.shown:
            out += [(f"{one.file}:{one.line}", f"{one.kind}: {one.why}{_done(one)}"),
                    ("", f"    line: {fit(printable(one.text.strip()), _LINE)}")]  # fmt: skip
            out += [("", f"    {each}") for each in one.evidence]
    return out


def _done(one: Finding) -> str:
    if one.learning:
        return f" (nmem wrote it: `nmem learn reopen {one.learning}` takes it out)"
    if not one.sure:
        return ""
    return f" (--diff changes {one.swap[0]} to {one.swap[1]})" if one.swap else " (--diff takes it out)"


def cost(report: Report) -> Rows:
    """What each client loads when a session begins, and the heaviest sections of what it loads."""
    out: Rows = []
    for client in report.clients:
        if many := report.tokens(client):
            month = f"; {counted(report.sessions, 'session')} of the last 30 days" if report.sessions else ""
            out.append((client, f"{many:,} tokens each session{month}"))
    heavy = [
        (tokens, document.shown, line, name)
        for document in report.documents if document.loaded == ALWAYS
        for line, name, tokens in document.sections[:_HEAVY]
    ]  # fmt: skip
    heavy.sort(reverse=True)
    out += [(f"{shown}:{line}", f"{many:,} tokens: {printable(name)}") for many, shown, line, name in heavy[:_LISTED]]
    return out


def shape(report: Report) -> dict[str, Any]:
    """As JSON."""
    return {
        "project": report.project, "root": report.root, "sessions_30d": report.sessions,
        "tokens": {client: report.tokens(client) for client in report.clients},
        "files": [
            {"file": one.shown, "clients": list(one.clients), "loaded": one.loaded, "tokens": one.tokens,
             "lines": len(one.lines), "imported_by": one.imported_by, "leads_out": one.leads_out,
             "sections": [{"line": line, "heading": name, "tokens": many} for line, name, many in one.sections]}
            for one in report.documents
        ],
        "findings": report.findings,
    }  # fmt: skip
