"""Writes a document as one HTML file: no script, nothing from elsewhere, light and dark, fit to print.

Every text is escaped; a policy in the page forbids whatever could be loaded or run all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from nmem.share.document import Block, Document, Fields, Heading, Item, Items, Paragraph, Said
from nmem.text import lines, printable

_STYLE = """
:root { color-scheme: light dark; --page: #fdfcfa; --ink: #22252a; --quiet: #667080; --edge: #dcdad4;
  --soft: #f3f1ec; --you: #2b62b5; --agent: #4b7a3d; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #16181c; --ink: #dcdfe4; --quiet: #929aa6; --edge: #33373e;
  --soft: #1f2228; --you: #82aef0; --agent: #9bc78a; --bad: #f2877f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 2rem 1.25rem 4rem; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 1rem; }
h2 { font-size: 1.25rem; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--edge); }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .5rem; }
h4, h5 { font-size: .95rem; margin: 1.2rem 0 .4rem; color: var(--quiet); }
p { margin: .5rem 0; }
p.quiet, .note { color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .6rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; }
ul { margin: .4rem 0; padding-left: 1.2rem; }
li { margin: .2rem 0; }
code, pre { font: .86em/1.5 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; }
code { background: var(--soft); border-radius: 3px; padding: .1em .3em; }
pre { background: var(--soft); border-radius: 4px; padding: .6rem .8rem; margin: .5rem 0; white-space: pre-wrap; }
details { margin: .6rem 0 .6rem 1rem; font-size: .92rem; }
details ul { list-style: none; padding-left: 0; }
summary { color: var(--quiet); cursor: pointer; }
.said { border-left: 3px solid var(--agent); padding: .1rem 0 .1rem .9rem; margin: .8rem 0; }
.said.you { border-color: var(--you); }
.said > header { font-size: .85rem; color: var(--agent); font-weight: 600; }
.said.you > header { color: var(--you); }
.said time, li time { color: var(--quiet); font-weight: 400; font-variant-numeric: tabular-nums; }
.text { white-space: pre-wrap; }
.bad { color: var(--bad); }
@media print { :root { color-scheme: light; --page: #fff; --ink: #000; --quiet: #555; --edge: #bbb; --soft: #f4f4f4;
  --you: #1d4a91; --agent: #35592b; --bad: #9a1c15; } body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2, h3, h4 { break-after: avoid; } li, .said > header { break-inside: avoid; } }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_MOST = 4_000


def write(document: Document) -> str:
    """The whole file."""
    title = _text(document.title)
    body = "\n".join(part for block in document.blocks for part in _drawn(block))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _text(text: str) -> str:
    return escape(printable(text), quote=True)


def _drawn(block: Block) -> Iterator[str]:
    match block:
        case Heading(level, text):
            tag = f"h{min(level, 5)}"
            yield f"<{tag}>{_text(text)}</{tag}>"
        case Paragraph(text, quiet):
            yield f'<p class="quiet">{_text(text)}</p>' if quiet else f"<p>{_text(text)}</p>"
        case Fields(rows):
            yield "<dl>" + "".join(f"<dt>{_text(label)}</dt><dd>{_text(text)}</dd>" for label, text in rows) + "</dl>"
        case Items(rows, summary):
            listed = "<ul>\n" + "\n".join(f"<li>{_line(row)}</li>" for row in rows) + "\n</ul>"
            # it begins unfolded, for what is folded is not printed
            yield f"<details open><summary>{_text(summary)}</summary>\n{listed}\n</details>" if summary else listed
        case Said(who, at, text):
            kind = "said you" if who == "Prompt" else "said"
            yield f'<section class="{kind}"><header>{_text(who)} <time>{_text(at)}</time></header>'
            yield from _prose(text)
            yield "</section>"


def _line(row: Item) -> str:
    parts = (
        f"<time>{_text(row.at)}</time>" if row.at else "",
        _text(row.text),
        f"<code>{_text(row.code)}</code>" if row.code else "",
        f'<span class="{"bad" if row.bad else "note"}">{_text(row.note)}</span>' if row.note else "",
    )
    return " ".join(part for part in parts if part)


def _prose(text: str) -> Iterator[str]:
    """A text with its lines; what stands between fences in it as code."""
    held: list[str] = []
    fence = ""
    for row in [*lines(text, _MOST), None]:
        mark = row.strip() if row is not None else ""
        opens = not fence and mark.startswith("```")
        if row is not None and not opens and not (fence and mark == fence):
            held.append(row)
            continue
        if shown := "\n".join(held).strip("\n"):
            yield f"<pre>{escape(shown)}</pre>" if fence else f'<div class="text">{escape(shown)}</div>'
        held, fence = [], mark[: len(mark) - len(mark.lstrip("`"))] if opens else ""
