"""The picture that moves: several screens of the demo in one SVG, shown one after the other by a style sheet.

A host of code shows it as a picture, which runs no script and fetches nothing: none is in it, and no font. Who asks for
less motion, and what knows no animation, sees the first screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

SECONDS = 4.0
"""How long a screen is shown."""
_STYLE = re.compile(r"\.terminal-(r\d+) \{ ([^}]*?) ?\}")
_CLASS = re.compile(r'class="terminal-(r\d+)"')
_RECT = re.compile(r'<rect fill="([^"]+)" x="([\d.]+)" y="([\d.]+)" width="([\d.]+)" height="([\d.]+)"[^>]*/>')
_CLIP = re.compile(r' clip-path="url\(#terminal-line-\d+\)"')
_BLANK = re.compile(r"<text [^>]*>(?:&#160;|\s)*</text>")
_MATRIX = re.compile(r'<g class="terminal-matrix">(.*?)</g>', re.DOTALL)
_SHEET = """\
.m { font-family: DejaVu Sans Mono, Menlo, Consolas, monospace; font-size: 20px }
.t { font-family: Arial, DejaVu Sans, sans-serif; font-size: 18px; font-weight: bold; fill: #c5c8c6 }
.f { visibility: hidden; animation: show %(all)gs infinite }
.f0 { visibility: visible }
@keyframes show { 0%% { visibility: visible } %(part).4g%% { visibility: hidden } 100%% { visibility: hidden } }
@media (prefers-reduced-motion: reduce) { .f { animation: none } }
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One screen: the keys that lead to it from the first one, and what its title says of them."""

    title: str
    keys: tuple[str, ...] = ()


STEPS = (
    Step("nmem tui: what happens in the session beside it"),
    Step("2: episodes, the stories of your work", ("2", "j", "j")),
    Step("enter: one of them in full", ("2", "j", "j", "enter")),
    Step("4: what keeps failing, and what helped", ("4", "j")),
    Step("5: what a prompt would be told, and why", ("5", "a", *"clock", "full_stop", *"py", "enter", "j")),
    Step("6: one box over everything", ("6", *"import", "enter", "j")),
)


def composed(pictures: list[str]) -> str:
    """One SVG of several that show screens of one size, each for `SECONDS`."""
    classes: dict[str, str] = {}
    frames = [_frame(number, svg, STEPS[number].title, classes) for number, svg in enumerate(pictures)]
    sheet = _SHEET % {"all": SECONDS * len(frames), "part": 100 / len(frames)}
    sheet += "".join(f".f{number} {{ animation-delay: {SECONDS * number:g}s }}\n" for number in range(len(frames)))
    sheet += "".join(f".{name} {{ {look} }}\n" for look, name in classes.items())
    begin = pictures[0].index("<rect fill=")
    chrome = pictures[0][begin : pictures[0].index("<text", begin)]
    head = re.search(r'viewBox="[^"]+"', pictures[0])
    assert head
    lights = "".join(f'<circle cx="{26 + 22 * at}" cy="22" r="7" fill="{fill}"/>'
                     for at, fill in enumerate(("#ff5f57", "#febc2e", "#28c840")))  # fmt: skip
    return (f'<svg xml:space="preserve" {head[0]} xmlns="http://www.w3.org/2000/svg"><style>\n{sheet}</style>\n'
            f"{chrome}{lights}\n{''.join(frames)}</svg>\n")  # fmt: skip


def _frame(number: int, svg: str, title: str, classes: dict[str, str]) -> str:
    """The screen of one picture as a group, by the classes that all share."""
    own = {name: classes.setdefault(look, f"c{len(classes)}") for name, look in _STYLE.findall(svg)}
    body = svg[svg.index("</defs>") :]
    found = _MATRIX.search(body)
    assert found
    texts = _CLASS.sub(lambda match: f'class="{own[match[1]]}"', _BLANK.sub("", _CLIP.sub("", found[1])))
    grounds = _grounds(body[body.index('<g transform="translate(9, 41)"') : found.start()])
    return (f'<g class="f f{number}"><text class="t" text-anchor="middle" x="50%" y="27">{title}</text>\n'
            f'<g transform="translate(9 41)">{grounds}\n<g class="m">{texts.strip()}</g></g></g>\n')  # fmt: skip


def _grounds(rects: str) -> str:
    """The grounds of all cells, those side by side of one colour as one."""
    made: list[tuple[str, float, str, float, str]] = []
    for fill, x, y, width, height in _RECT.findall(rects):
        left, wide = float(x), float(width)
        if made and made[-1][0] == fill and made[-1][2] == y and abs(made[-1][1] + made[-1][3] - left) < 0.1:
            left, wide = made[-1][1], made[-1][3] + wide
            made.pop()
        if wide:
            made.append((fill, left, y, wide, height))
    return "".join(f'<rect fill="{fill}" x="{left:g}" y="{y}" width="{wide:g}" height="{height}"/>'
                   for fill, left, y, wide, height in made)  # fmt: skip
