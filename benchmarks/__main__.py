"""`python -m benchmarks [gate | memory | peers]`: every figure, beside a control in the same run.

Without a word: hooks, reads, keys, searches, first frame, bytes and memory on databases of several sizes, and how they
grow. `--write` puts the table into docs/figures.md and the curves into docs/figures/; `--json FILE` keeps the figures;
`--from FILE` tells figures that were kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import curves, figures, sizes

PAGE = figures.ROOT / "docs" / "figures.md"
PICTURE = figures.ROOT / "docs" / "figures" / "growth.svg"
KEPT = {"sizes": "figures", "memory": "rows", "peers": "peers"}
"""What the figures of each table have that those of the others have not."""


def numbers(text: str) -> tuple[int, ...]:
    """`1e4,1e5` as numbers, ascending. Raises ValueError."""
    found = sorted({int(float(each)) for each in text.split(",")})
    if not found or found[0] < 1000:
        raise argparse.ArgumentTypeError("sizes are numbers of observations from 1,000 up, with commas between")
    return tuple(found)


def kept(name: str) -> dict[str, Any]:
    """The figures that `--json` wrote. Raises ArgumentTypeError."""
    try:
        return dict(json.loads(Path(name).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise argparse.ArgumentTypeError(f"{name} holds no figures of --json: {error}") from None


def main(words: list[str]) -> int:
    """Measure what the words ask for; 1 where the gate finds a budget exceeded."""
    given = parsed(words)
    subject: dict[str, Callable[[argparse.Namespace], int]] = {
        "sizes": _sizes, "gate": _gate, "memory": _memory, "peers": _peers,
    }  # fmt: skip
    return subject[given.subject](given)


def parsed(words: list[str]) -> argparse.Namespace:
    """The words of the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("subject", nargs="?", default="sizes", choices=("sizes", "gate", "memory", "peers"))
    parser.add_argument("--sizes", type=numbers, default=sizes.SIZES, help="observations, as 1e4,1e5,1e6,3e6")
    parser.add_argument("--runs", type=int, default=25, help="of each hook, read and frame (25)")
    parser.add_argument("--dir", type=Path, help="where the databases are kept; default: a temporary folder")
    parser.add_argument("--data", type=Path, help="the folder with the material of `memory` and `peers`")
    parser.add_argument("--only", default="", help="of peers: the name of one")
    parser.add_argument("--json", type=Path, dest="kept", metavar="FILE", help="keep the figures as JSON")
    parser.add_argument("--from", type=kept, dest="source", metavar="FILE", help="measure nothing: figures of --json")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/figures.md")
    given = parser.parse_args(words)
    if wrong := next(refused(given), ""):
        parser.error(wrong)
    return given


def refused(given: argparse.Namespace) -> Iterator[str]:
    """What of the words does not go together."""
    if given.subject == "gate" and (given.write or given.source):
        yield "gate has no table to write, and none to tell again"
    if given.source and KEPT[given.subject] not in given.source:
        yield f"these are no figures of {given.subject}"
    if given.subject in ("memory", "peers") and not given.source and not (given.data and given.data.is_dir()):
        yield f"{given.subject} wants --data, the folder with its material"
    if given.subject == "sizes" and given.write and len(given.source["sizes"] if given.source else given.sizes) < 2:
        yield "--write draws how figures grow: it wants two sizes"
    if given.only:
        from benchmarks import peers  # on use: the others need none of it

        if given.subject != "peers" or given.only not in peers.PEERS:
            yield f"--only is for peers, and one of {', '.join(peers.PEERS)}"
        if given.write:
            yield "--write wants all peers: leave out --only"


def _tell(given: argparse.Namespace, name: str, found: object, text: str) -> int:
    """Print a text, keep its figures, and put it into the page where that is asked for."""
    print(text)
    if given.kept:
        figures.write_json(given.kept, found)
    if given.write:
        PAGE.write_text(figures.put(PAGE.read_text("utf-8"), name, text), "utf-8")
    return 0


def _sizes(given: argparse.Namespace) -> int:
    if given.source:
        run = figures.Run.from_dict(given.source)
    else:
        with tempfile.TemporaryDirectory() as name:
            run = sizes.measured(given.dir or Path(name), given.sizes, given.runs, sizes.say)
    _tell(given, "sizes", run.to_dict(), figures.says(run))
    if given.write:
        PICTURE.parent.mkdir(exist_ok=True)
        PICTURE.write_text(curves.picture(run), "utf-8")
    return 0


def _gate(given: argparse.Namespace) -> int:
    from benchmarks import gate  # on use: the others need none of it

    found = gate.measured(sizes.say)
    return _tell(given, "gate", found.to_dict(), gate.says(found)) or int(bool(gate.missed(found)))


def _memory(given: argparse.Namespace) -> int:
    from benchmarks import memory  # on use: the others need none of it

    found = given.source or memory.measured(given.data, sizes.say)
    return _tell(given, "memory", found, memory.says(found))


def _peers(given: argparse.Namespace) -> int:
    from benchmarks import peers  # on use: the others need none of it

    found = given.source or peers.measured(given.data, sizes.say, given.only)
    return _tell(given, "peers", found, peers.says(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
