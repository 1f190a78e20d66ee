"""A database of a million observations whose words are spread as in real ones: `python benchmarks/searched.py PATH [OBS]`.

Everything is invented. Word frequencies follow Zipf over 60,000 words; the word `widget` stands in 70 % of the
observations; identifiers are written in camel and snake case; 2 % of the texts are Chinese, Japanese or Korean; the
rows between 60 % and 80 % of the ids were imported later and are older than all others; the last 2,000 rows were
written one transaction each, as hooks do.
"""

# ruff: noqa: E501 -- a statement and its rows stand on one line each

from __future__ import annotations

import bisect
import json
import random
import sys
import time
from itertools import accumulate
from pathlib import Path

from capture.storage import store
from nmem import tables

NEWEST = 1_760_000_000_000
PER_SESSION, PER_PROMPT = 57, 12
STEP = 20_000
TYPES = (
    ("file_edit", 22),
    ("file_read", 20),
    ("search", 16),
    ("git_other", 8),
    ("test", 7),
    ("todo", 6),
    ("lint", 5),
    ("command", 6),
    ("file_write", 3),
    ("task_spawn", 2),
    ("build", 2),
    ("git_commit", 2),
    ("mcp_call", 1),
)
CLIENTS = ("claude", "claude", "claude", "claude", "codex", "gemini")
_SYL = [
    "ba",
    "co",
    "di",
    "fu",
    "ga",
    "he",
    "in",
    "jo",
    "ka",
    "lu",
    "me",
    "no",
    "or",
    "pa",
    "qui",
    "ra",
    "se",
    "ta",
    "un",
    "ve",
    "wi",
    "xo",
    "ya",
    "zen",
    "tor",
    "mal",
    "lin",
    "ser",
    "par",
    "den",
    "rol",
]
CJK = "登录页面崩溃修复错误测试数据库缓存令牌过期用户会话重试部署配置文件搜索索引排序过滤解析器构建失败通过提交分支合并"
KANA = "ログインの画面が落ちる問題を直してテストを通すキャッシュとトークンの期限切れ"
HANGUL = ["로그인", "화면이", "멈추는", "문제를", "고치고", "테스트를", "통과시켜", "주세요", "캐시와", "토큰", "만료"]


class Words:
    """Zipf-distributed invented words."""

    def __init__(self, dice: random.Random, count: int = 60_000) -> None:
        real = [
            "the",
            "to",
            "fix",
            "test",
            "file",
            "and",
            "error",
            "run",
            "add",
            "update",
            "make",
            "check",
            "build",
            "session",
            "token",
            "cache",
            "parser",
            "login",
            "user",
            "config",
            "module",
            "retry",
            "render",
            "query",
            "index",
            "commit",
            "branch",
            "merge",
            "timeout",
            "failing",
            "request",
            "response",
            "handler",
            "client",
            "server",
            "schema",
            "migration",
            "review",
            "refactor",
            "rename",
            "remove",
            "stream",
            "worker",
            "lock",
            "thread",
            "window",
            "layout",
        ]
        seen = set(real)
        words = list(real)
        while len(words) < count:
            w = "".join(dice.choices(_SYL, k=dice.choice((2, 2, 3, 3, 4))))
            if w not in seen:
                seen.add(w)
                words.append(w)
        self.words = words
        self.cum = list(accumulate(1 / (n + 8) for n in range(count)))
        self.dice = dice

    def one(self) -> str:
        return self.words[bisect.bisect(self.cum, self.dice.random() * self.cum[-1])]

    def some(self, count: int) -> str:
        return " ".join(self.one() for _ in range(count))

    def ident(self) -> str:
        parts = [self.one() for _ in range(self.dice.choice((2, 2, 3)))]
        if self.dice.random() < 0.6:
            return parts[0] + "".join(p.capitalize() for p in parts[1:])
        return "_".join(parts)


def cjk(dice: random.Random) -> str:
    kind = dice.random()
    if kind < 0.5:
        return "".join(dice.choices(CJK, k=dice.randint(8, 30))) + "，" + "".join(dice.choices(CJK, k=6))
    if kind < 0.75:
        start = dice.randrange(len(KANA) - 8)
        return KANA[start : start + dice.randint(6, 30)]
    return " ".join(dice.choices(HANGUL, k=6))


class Maker:
    def __init__(self, total: int) -> None:
        self.dice = random.Random(7)
        self.words = Words(self.dice)
        self.total = total
        self.paths = [self._path() for _ in range(6_000)]
        self.pcum = list(accumulate(1 / (n + 20) for n in range(len(self.paths))))
        self.types = [t for t, w in TYPES for _ in range(w)]

    def _path(self) -> str:
        d = self.dice
        depth = d.choice((1, 2, 2, 3, 4))
        name = self.words.ident() if d.random() < 0.5 else self.words.one()
        return "/".join(["src", *(self.words.one() for _ in range(depth)), name]) + d.choice(
            (".py", ".ts", ".go", ".md")
        )

    def path(self) -> str:
        return self.paths[bisect.bisect(self.pcum, self.dice.random() * self.pcum[-1])]

    def at(self, number: int) -> int:
        total = self.total
        low, high = int(total * 0.6), int(total * 0.8)
        if low <= number < high:  # imported later: older than everything
            place = number - low
        elif number < low:
            place = number + (high - low)
        else:
            place = number
        return NEWEST - (total - place) * STEP

    def observation(self, number: int) -> tuple[object, ...]:
        d, w = self.dice, self.words
        session, seq = divmod(number, PER_SESSION)
        kind = d.choice(self.types)
        path = meta = None
        outcome = "ok"
        if kind.startswith("file"):
            path = text = self.path()
        elif kind == "search":
            text = w.ident() + (" in " + self.path() if d.random() < 0.3 else "")
        elif kind == "git_commit":
            text = 'git commit -m "' + w.some(9) + "\n\n" + w.some(20) + '"'
        elif kind == "todo":
            text = "[ ] " + w.some(5)
        else:
            text = (
                d.choice(("python -m pytest -q ", "npm run ", "go build ./", "rg -n ", "cat "))
                + self.path()
                + " "
                + w.some(6)
            )
        if d.random() < 0.02:
            text = cjk(d)
        if d.random() < 0.70:
            text += " widget"
        if kind in ("test", "build", "lint", "command", "git_other") and d.random() < 0.2:
            outcome = "failed"
            meta = json.dumps({"response": f"{self.path()}:{d.randint(1, 900)}: {w.ident()} Error: " + w.some(40)})
        return (
            f"s{session}",
            number // PER_PROMPT + 1,
            self.at(number),
            seq + 1,
            kind,
            "Bash",
            f"toolu_{number:024d}",
            path,
            text,
            outcome,
            meta,
            int(d.random() < 0.0005),
            f"toolu_{number:024d}",
        )

    def prompt(self) -> str:
        d = self.dice
        if d.random() < 0.02:
            return cjk(d) + "。" + cjk(d)
        return self.words.some(d.choice((4, 12, 30, 120)))

    def said(self) -> str:
        return self.words.some(50) + " `" + self.words.ident() + "` " + self.path()


def grow(path: str, total: int = 1_000_000) -> None:
    m = Maker(total)
    d, w = m.dice, m.words
    db = store.connect(path, autocheckpoint=4000)
    tables.ensure(db)
    triggers = db.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name NOT GLOB 'search_[dsl]*'"
    ).fetchall()
    db.execute("PRAGMA foreign_keys=OFF")
    db.execute("PRAGMA synchronous=OFF")
    tail = 2_000
    sessions = total // PER_SESSION + 1
    insert = (
        "INSERT INTO observations (session_id, prompt_id, at, seq, obs_type, tool_name, tool_use_id, file_path,"
        " content, outcome, metadata, pinned, dedup_key) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
    )
    with store.transaction(db):
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        db.executemany(
            "INSERT INTO projects VALUES (?, ?, ?, ?, NULL, 0)",
            ((n, f"example.org/team/p{n}", f"p{n}", f"/home/u/p{n}") for n in range(1, 31)),
        )
        weights = [1 / n for n in range(1, 31)]
        db.executemany(
            "INSERT INTO sessions (id, client, project_id, cwd, started_at, last_at, seq) VALUES (?,?,?,?,?,?,?)",
            (
                (
                    f"s{n}",
                    d.choice(CLIENTS),
                    (p := d.choices(range(1, 31), weights)[0]),
                    f"/home/u/p{p}",
                    m.at(min(total - 1, n * PER_SESSION)),
                    m.at(min(total - 1, (n + 1) * PER_SESSION)),
                    PER_SESSION,
                )
                for n in range(sessions)
            ),
        )
        prompts = total // PER_PROMPT + 1
        db.executemany(
            "INSERT INTO prompts VALUES (?,?,?,'user','prompt',?,NULL,NULL,?)",
            (
                (n + 1, f"s{n * PER_PROMPT // PER_SESSION}", m.at(min(total - 1, n * PER_PROMPT)), m.prompt(), f"p{n}")
                for n in range(prompts)
            ),
        )
        db.executemany(
            "INSERT INTO prompts VALUES (?,?,?,'agent',?,?,NULL,NULL,?)",
            (
                (
                    prompts + n + 1,
                    f"s{n * 6 // PER_SESSION}",
                    m.at(min(total - 1, n * 6 + 5)),
                    ("thinking", "thinking", "closing")[n % 3],
                    m.said(),
                    f"a{n}",
                )
                for n in range(total // 6)
            ),
        )
        db.executemany(insert, (m.observation(n) for n in range(total - tail)))
        units = total // 45
        db.executemany(
            "INSERT INTO work_units (id, session_id, first_prompt_id, last_prompt_id, started_at, ended_at, last_at,"
            " state, intent, summary, learned, completed, next_steps, notes, narrated_at, hot_files, pinned)"
            " VALUES (?,?,?,?,?,?,?,'closed',?,?,?,?,?,?,?,?,?)",
            (
                (
                    n + 1,
                    f"s{n * 45 // PER_SESSION}",
                    n * 45 // PER_PROMPT + 1,
                    n * 45 // PER_PROMPT + 2,
                    m.at(n * 45),
                    m.at(n * 45),
                    m.at(n * 45),
                    w.some(20),
                    w.some(40),
                    json.dumps([w.some(12)]),
                    json.dumps([w.some(12)]),
                    json.dumps([w.some(8)]),
                    json.dumps([w.some(8)]),
                    m.at(n * 45),
                    "[]",
                    int(d.random() < 0.01),
                )
                for n in range(units)
            ),
        )
        db.executemany(
            "INSERT INTO session_summaries (session_id,intent,learned,completed,next_steps,files_read,files_edited,notes,narrator,at)"
            " VALUES (?,?,?,?,?,?,?,?,'extractive',?)",
            (
                (
                    f"s{n}",
                    w.some(20),
                    json.dumps([w.some(12)]),
                    json.dumps([w.some(12)]),
                    "[]",
                    json.dumps([m.path()]),
                    json.dumps([m.path()]),
                    "[]",
                    m.at(n * PER_SESSION),
                )
                for n in range(sessions)
            ),
        )
        db.executemany(
            "INSERT INTO learnings (project_id,kind,key,title,first_at,last_at,sessions,occurrences) VALUES (?,?,?,?,?,?,2,3)",
            (
                (d.randint(1, 30), "recurring_error", f"k{n}", w.some(8), m.at(n * 1000), m.at(n * 1000))
                for n in range(min(400, total // 1000))
            ),
        )
        for index in ("observations_fts", "prompts_fts"):
            db.execute(f"INSERT INTO {index}({index}) VALUES ('rebuild')")
        db.execute(
            "INSERT INTO narratives_fts(rowid, title, intent, body, files) SELECT id, title, intent, coalesce(summary,'')||' '||"
            "coalesce(learned,'')||' '||coalesce(completed,'')||' '||coalesce(next_steps,'')||' '||coalesce(notes,''), '' FROM work_units"
        )
        for _, sql in triggers:
            db.execute(sql)
    for n in range(total - tail, total):
        with store.transaction(db):
            db.execute(insert, m.observation(n))
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.close()


if __name__ == "__main__":
    before = time.perf_counter()
    grow(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    print(f"{Path(sys.argv[1]).stat().st_size / 1e6:.0f} MB in {time.perf_counter() - before:.0f} s")
