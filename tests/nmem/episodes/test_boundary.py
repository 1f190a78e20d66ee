"""What the detector says of single prompts: any script, terse words, its own weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmem.episodes import boundary, text
from nmem.episodes.boundary import REASONS, Decision, Detector, Session, jaccard, load
from nmem.episodes.detect import decide


def segment(prompts: list[dict[str, Any]], detector: Detector, online: bool = False) -> list[Decision]:
    return decide(prompts, detector, online=online)[0]


def prompt(words: str, gap: float = 1.0, **agent: Any) -> dict[str, Any]:
    return {"text": words, "gap_minutes": gap, "agent": {"tools": {"Edit": 3}, **agent}}


MIXED = {
    "ja": ["src/auth/token.py のトークン更新でエラーが出るので直してください", "はい", "コミットして",
           ("次に請求書の一覧を月別のグラフで表示する新しい画面を作りたいです。"
            "顧客ごとに集計してください")],
    "zh": ["修复 src/auth/token.py 里刷新令牌时的报错", "好的", "提交",
           "接下来我想要一个新的页面，按月份用图表显示每个客户的发票总额，并支持导出"],
    "ko": ["src/auth/token.py 토큰 갱신 오류를 고쳐 주세요", "네 진행해 주세요", "커밋해줘",
           ("이제 고객별 월간 청구서를 차트로 보여 주는 새로운 대시보드 화면을 만들고 싶어요 "
            "그리고 내보내기 버튼도 추가해 주세요")],
    "pt": ["corrija o erro ao renovar o token em src/auth/token.py", "pode continuar", "commita",
           "agora quero uma nova página que mostre as faturas mensais por cliente em um gráfico, com exportação"],
}  # fmt: skip


@pytest.mark.parametrize("lang", MIXED)
def test_any_script_is_read(lang: str) -> None:
    first, reply, commit, other = MIXED[lang]
    work: dict[str, Any] = {"files": ["src/auth/token.py"], "said": first[:40]}
    found = segment(
        [prompt(first, **work), prompt(reply, **work), prompt(commit, events=["commit"]),
         prompt(other, 30, files=["web/billing/chart.tsx", "web/billing/export.ts"])], load(),
    )  # fmt: skip
    assert [each.cut for each in found] == [True, False, False, True]
    assert [each.label for each in found] == ["new", "ack", "ack", "new"]


@given(st.lists(st.tuples(st.text(max_size=80), st.one_of(st.none(), st.floats(0, 10_000))), max_size=6))
def test_no_text_breaks_it(said: list[tuple[str, float | None]]) -> None:
    prompts = [{"text": words, "gap_minutes": gap, "agent": {"said": words, "files": [words]}} for words, gap in said]
    for online in (True, False):
        found = segment(prompts, load(), online)
        assert len(found) == len(prompts) and all(0 <= each.probability <= 1 for each in found)
    assert len(jaccard(prompts)) == len(prompts)


def test_the_first_prompt_opens_and_nothing_else_has_to() -> None:
    session = Session(load())
    assert session.arrive(prompt("x")).cut
    assert [each.cut for each in segment([prompt("fix it"), prompt("ok"), prompt("yes")], load())] == [
        True,
        False,
        False,
    ]


def test_every_weight_has_words_for_a_person() -> None:
    spec = json.loads(Path(boundary.WEIGHTS).read_text("utf-8"))
    speaking = {name for kind in ("online", "revised") for name, (weight, mean) in spec[kind]["weights"].items()
                if weight > 0 or abs(weight * mean) >= 0.05}  # fmt: skip
    assert speaking <= set(REASONS)


def test_the_rule_of_keyword_bags() -> None:
    near: list[dict[str, Any]]
    said = ["fix the tokenizer of the lexer module", "the tokenizer drops tokens", "ok push",
            "draw monthly invoices for customers"]  # fmt: skip
    assert [each.cut for each in jaccard([{"text": words} for words in said])] == [True, False, False, True]
    near = [
        {"text": "alpha beta gamma delta epsilon zeta"},
        {"text": "alpha beta one two three four five", "gap_minutes": 200},
    ]
    assert [each.cut for each in jaccard(near, 0.15)] == [True, True]
    assert [each.cut for each in jaccard(near, 0.15, patient=0)] == [True, False]


def test_a_persons_own_weights_are_used_and_broken_ones_are_not(tmp_path: Path) -> None:
    db = str(tmp_path / "nmem.db")
    spec = json.loads(Path(boundary.WEIGHTS).read_text("utf-8"))
    spec["online"]["threshold"] = -100
    own = tmp_path / boundary.FITTED
    own.write_text(json.dumps(spec))
    assert load(db).models["online"].threshold == -100
    own.write_text('{"online": 3')
    assert load(db).models["online"].threshold > -100


@given(st.text(alphabet="abcXYZ_ 09-é漢カ한\n", max_size=60))
def test_remembered_words_are_read_like_new_ones(words: str) -> None:
    once = text.tokens(words)
    assert text.tokens(words) == once
    text._known.clear()
    assert text.tokens(words) == once


def said(words: str, done: str = "", gap: float = 1.0, **agent: Any) -> dict[str, Any]:
    return prompt(words, gap, said=done, **agent)


PUSHED = said("ok push", "Pushed to origin/main.", events=["commit"])
SIGNALS = said(
    "so what signals are we trying to detect again, this list will probably grow",
    "Three signals: stuck loops, repeated failures and retries.", 74 / 60,
)  # fmt: skip


@pytest.mark.parametrize("online", [True, False])
def test_the_step_from_a_push_to_a_discussion_is_a_boundary(online: bool) -> None:
    before = [
        said("please add the cargo test failures to the workspace claude.md", "Added them.", files=["CLAUDE.md"]),
        said("we should exclude the ../library", "Excluded.", 0.8, files=["CLAUDE.md"]),
        said("what is the histogram (monotonic) for all 3 signals", "Here is the histogram of the signals.", 2.0),
    ]
    found = segment([*before, PUSHED, SIGNALS], load(), online)
    assert [each.cut for each in found] == [True, False, False, False, True]
    assert "put away" in found[-1].reason()


DONE = ("ok push", "commit and push", "merge it", "commit this please")
TASKS = (
    ("fix the token refresh in src/auth/token.py", "src/auth/token.py"),
    ("draw the monthly invoices of each customer as a bar chart on the billing page", "web/billing/chart.tsx"),
    ("write a script that imports bank statements from the csv exports", "tools/statements.py"),
    ("how does the scheduler decide which of the waiting jobs runs next?", "queue/scheduler.rs"),
)


@given(st.permutations(TASKS), st.sampled_from(DONE), st.booleans())
def test_a_task_put_away_and_a_request_with_other_words_and_files_are_two_episodes(
    tasks: list[tuple[str, str]], done: str, online: bool
) -> None:
    (first, file), (second, other) = tasks[:2]
    told = [
        said(first, f"Changed {file}.", files=[file]), said(done, "Done.", events=["commit"]),
        said(second, f"Changed {other}.", files=[other]), said("ok", "Good.", files=[other]),
    ]  # fmt: skip
    assert [each.cut for each in segment(told, load(), online)] == [True, False, True, False]


def test_what_is_nearly_a_change_is_offered() -> None:
    told = [
        said("fix the token refresh in src/auth/token.py", "Changed src/auth/token.py.", files=["src/auth/token.py"]),
        said("how does the scheduler decide which job runs next?", "The scheduler takes the oldest.", files=["q/a.rs"]),
    ]
    found = segment(told, load(), online=True)[1]
    assert found.cut or found.offer
