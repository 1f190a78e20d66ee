"""Ten thousand entries: made once, loaded soon, answered in milliseconds."""

from __future__ import annotations

import random
import time
from pathlib import Path

from nmem.recall import folder, loaded, rank


def test_a_query_on_ten_thousand_entries(project: Path) -> None:
    draw = random.Random(7)
    words = ["".join(draw.choices("abcdefghijklmnoprstuvw", k=draw.randint(4, 9))) for _ in range(4_000)]
    common = words[:300]
    lines, wanted = ["# Index", ""], []
    for file in range(50):
        lines += [f"## f{file}.md", ""]
        text = []
        for _ in range(200):
            trigger = " ".join([*draw.sample(words, 3), draw.choice(common)])
            wanted.append(trigger)
            lines.append(f"/when {trigger}")
            text += [f"## When {trigger}", "", " ".join(draw.choices(common, k=25) + draw.choices(words, k=10)), ""]
        (project / "docs" / "decisions" / f"f{file}.md").write_text("\n".join(text))
    (project / "docs" / "memory-index.md").write_text("\n".join(lines))
    index = loaded.of(folder.find(str(project))).index
    assert len(index.docs) == 10_000
    queries = [trigger.rsplit(" ", 1)[0] for trigger in draw.sample(wanted, 40)]
    rank.rank(index, queries[0])
    started = time.process_time()
    hits = [index.docs[rank.rank(index, query)[0][0].doc][1].startswith(query) for query in queries]
    assert (time.process_time() - started) / len(queries) < 2  # 40 ms on a machine of its own
    assert sum(hits) >= 38
