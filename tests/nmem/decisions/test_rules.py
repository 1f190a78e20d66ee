"""What counts as a decision in a conversation, on small dialogues: `>` is the agent, the rest is the person."""

from __future__ import annotations

import pytest

from nmem.conversation import rules
from nmem.conversation.rules import ANSWER, CONFIRMATION, CORRECTION, RULE, Said
from nmem.conversation.talk import Turn


def dialogue(*lines: str) -> list[Turn]:
    return [Turn(n, not line.startswith("> "), line.removeprefix("> ")) for n, line in enumerate(lines)]


def found(*lines: str) -> list[Said]:
    return rules.find(dialogue(*lines))


def words(said: Said, *lines: str) -> str:
    return said.words.of(dialogue(*lines)[said.words.number].text)


DECIDED = {
    "an answer": (ANSWER, "Retries are missing.", "> I can add them. How many attempts should we allow?",
                  "Four attempts in all.", "> Understood: four attempts in all."),
    "this or that": (ANSWER, "The rollout is next.", "> Straight to production or staged?",
                     "Staged, with a day of shadow mode."),
    "an option": (ANSWER, "How do we store it?",
                  "> Two options:\n1. one row a day\n2. one row an event\nWhich one do you prefer?", "option 2"),
    "a correction": (CORRECTION, "The flag parser is too lax.", "> I'll accept only 'true'.",
                     "Not just 'true' - we also accept 'on'. But '1' must not be truthy."),
    "almost": (CORRECTION, "Fix the retry policy.", "> I'd retry 5xx only; 4xx fails at once.",
               "Almost - 429 must be retryable too, or we drop work every spike."),
    "no": (CORRECTION, "Sort the jobs.", "> Then by priority, and FIFO on ties?",
           "No, not FIFO. On a tie take the shorter one first."),
    "one and not the other": (CORRECTION, "We need an HTTP client.", "> I'll add requests.", "use httpx, not requests"),
    "instead of": (CORRECTION, "Let's use apple container instead of docker."),
    "a preference": (CORRECTION, "Where does it go?", "> I'd keep it in paths.",
                     "they are only used for storage, so I'd prefer it in sessions"),
    "on purpose": (CORRECTION, "Look at the commands.", "> `session` is missing from the root command.",
                   "no, we removed the session commands on purpose"),
    "a rule": (RULE, "The build broke.", "> I pushed to main.", "From now on never push to main without a review."),
    "always": (RULE, "Always run the linter before you commit."),
    "full stop": (RULE, "> May it run again?", "If another tenant waits, it is not eligible, full stop."),
    "a confirmation": (CONFIRMATION, "The client gets 408s.",
                       "> Amending the policy: any 5xx plus 429 and 408, at most 4 attempts, capped at 30 seconds.",
                       "That's the rule going forward, yes."),
    "ship it": (CONFIRMATION, "Lists vanish.",
                "> To be explicit about the new contract: lists are joined, without repeats, base first.",
                "That's the one. Ship it."),
    "leave it": (CONFIRMATION, "Lower the attempts.", "> MAX_ATTEMPTS is 7 now.", "Right, leave it at 7."),
    "German answer": (ANSWER, "Die Wiederholungen fehlen.", "> Wie viele Versuche sollen wir erlauben?",
                      "Höchstens vier Versuche."),
    "German correction": (CORRECTION, "Der Client fehlt.", "> Ich nehme requests.",
                          "Nein, nimm httpx statt requests."),
    "German rule": (RULE, "> Ich habe direkt auf main gepusht.", "Ab jetzt niemals direkt auf main pushen."),
    "Korean correction": (CORRECTION, "클라이언트가 필요해.", "> requests를 추가하겠습니다.",
                          "아니, requests 말고 httpx를 사용해."),
    "Korean rule": (RULE, "> 바로 푸시했습니다.", "앞으로는 항상 테스트를 먼저 돌려."),
    "Japanese correction": (CORRECTION, "クライアントが必要です。", "> requestsを追加します。",
                            "いいえ、requestsではなくhttpxを使ってください。"),
    "Japanese rule": (RULE, "> 直接プッシュしました。", "今後は必ずレビューを通してください。"),
    "Portuguese correction": (CORRECTION, "Falta um cliente.", "> Vou usar requests.",
                              "Não, use httpx em vez de requests."),
    "Portuguese rule": (RULE, "> Fiz push na main.", "A partir de agora nunca faça push direto na main."),
}  # fmt: skip


@pytest.mark.parametrize("name", DECIDED)
def test_what_a_person_settles_is_a_decision_in_their_own_words(name: str) -> None:
    kind, *lines = DECIDED[name]
    (one,) = found(*lines)
    assert one.kind == kind
    last = max(n for n, line in enumerate(lines) if not line.startswith("> "))
    assert one.words.number == last
    assert words(one, *lines) == lines[last].rstrip()


_WORK = (
    "two things are left before we can show this. 1. plot the heading over time and not the path, each in a picture. 2."
    " we should always write the histories into a file, instead of running all of it once more; and 3. name the files."
)
UNDECIDED = {
    "a task": ("fix the test",),
    "tasks": ("add a test for this", "> Done.", "commit and push", "> Pushed.", "can you also update the changelog?"),
    "leave to go on": ("Look at it.", "> Should I commit this now?", "yes"),
    "an agent's proposal": ("The cache is slow.", "> I'd use Redis instead of files. From now on never use files."),
    "a proposal that is refused": ("The cache is slow.", "> I suggest we always use Redis.", "hm, why?"),
    "a fact": ("It hangs.", "> Are you using a recent version?", "Yeah, definitely on a recent version."),
    "a report": ("I always get a timeout here", "> Let me look.", "it never finished, the error is the same"),
    "a question": ("Should we always use httpx instead of requests?",),
    "a musing": ("> It is lazy.", "I thought it was never used, so it looks more like a cache than a store."),
    "thanks": ("> Settled: at most 4 attempts.", "Thanks!"),
    "a log": ("Error: connection must not be closed\n```\nnever retry, always fail\n```\nwhat is this?",),
    "a plan": ("Implement the following plan:\n# Plan\nAlways use X, not Y.\n## Steps\nNever push.",),
    "a review": ("Consider using context.WithTimeout instead of context.Background. This should never hang.",
                 "> Good catch."),
    "all is well": ("Is it right?", "> The value is 3, not 4.", "no, this is fine"),
    "an objection that asks": ("Set up the key.", "> This leaves exactly one key path.",
                               "wait, so I have to make the key again and use only that one. what did you suggest?"),
    "agreement": ("> A bound on the walk would help.",
                  "the bound is exactly what i meant, but there should be only rectangles. now tell me how"),
    "how it is done today": ("> A form is needed around it.",
                             "We are doing it this way because we use the inline mode, not the dialog"),
    "a list of work": ("> The plots are written.", _WORK),
    "what is seen": ("> The loop is closed now.", "the works are fine, but the scores seem to never finish loading"),
    "a wish and a doubt": ("> Shall I set up the key?", "i want to use ssh, but maybe something is missing"),
    "a choice of several": ("> Ways to go:\n1. document it\n2. test it\nWhich one?", "1+2"),
    "an answer to a question in a list": ("> Tell me:\n1. Which views are there?\n2. How do they hang together?", "2"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNDECIDED)
def test_what_is_asked_reported_or_only_proposed_is_none(name: str) -> None:
    assert found(*UNDECIDED[name]) == []


def test_a_decision_has_the_question_and_the_agents_restatement() -> None:
    lines = DECIDED["an answer"][1:]
    (one,) = found(*lines)
    assert one.question is not None and one.restated is not None
    texts = [turn.text for turn in dialogue(*lines)]
    assert one.question.of(texts[1]) == "I can add them. How many attempts should we allow?"
    assert one.restated.of(texts[3]) == "Understood: four attempts in all."


def parts(*lines: str) -> tuple[str, str]:
    """What was asked, and how the agent said what was decided."""
    (one,) = found(*lines)
    texts = [turn.text for turn in dialogue(*lines)]
    of = [span.of(texts[span.number]) if span else "" for span in (one.question, one.restated)]
    return of[0], of[1]


def test_an_option_that_is_chosen_is_told_with_the_question() -> None:
    asked, option = parts(*DECIDED["an option"][1:])
    assert asked == "Which one do you prefer?"
    assert option == "2. one row an event"


_LISTS = {
    "bold": "Three ways to do this:\n\n**Option A: TTL** - entries expire.\n**Option B: Write-through** - each write"
    " updates.\n**Option C: Events** - writers publish, the cache drops the key.\n\nWhich one would you like?",
    "headings": "I see three approaches:\n\n### Option A: TTL\nEntries expire.\n\n### Option B: Write-through\nEach"
    " write updates.\n\n### Option C: Events\nWriters publish, the cache drops the key.\n\nTell me which you prefer.",
    "letters": "Options:\nA) TTL\nB) Write-through\nC) Events: writers publish, the cache drops the key\n\n"
    "What do you think?",
    "table": "| Option | Pro |\n|---|---|\n| A. TTL | simple |\n| B. Write-through | fresh |\n| C. Events | the cache"
    " drops the key |\n\nWhich do you prefer?",
}
_CHOICES = ("I like Option C", "option C please", "let's go with option c.", "I think option C is best",
            "Yes, option C", "I like the third one", "Option C, but keep the TTL as a fallback")  # fmt: skip


@pytest.mark.parametrize("choice", _CHOICES)
@pytest.mark.parametrize("form", _LISTS)
def test_a_choice_says_which_option_it_is(form: str, choice: str) -> None:
    asked, option = parts("How is the cache invalidated?", f"> {_LISTS[form]}", choice)
    assert "Events" in option and "drops the key" in option
    assert "TTL" not in option and "Write-through" not in option
    assert asked and "Events" not in asked


@pytest.mark.parametrize("said", [
    "not option C", "what about option C?", "can you explain option C?", "Option C is too complex",
    "option C isn't fresh", "I don't like option C", "C?",
])  # fmt: skip
@pytest.mark.parametrize("form", _LISTS)
def test_an_option_that_is_refused_or_asked_about_is_not_chosen(form: str, said: str) -> None:
    assert found("How is the cache invalidated?", f"> {_LISTS[form]}", said) == []


def test_an_option_is_chosen_by_a_word_that_it_alone_has() -> None:
    lines = ("How?", f"> {_LISTS['bold']}", "let's do the write-through one")
    assert parts(*lines)[1].startswith("Option B: Write-through")


_FINDINGS = "Here is what I found:\n1. The new cache drops keys\n2. A lock is held too long\n3. The current way copies"
_OFFER = "Ways:\nA. lock the file\nB. write to a new file\nC. retry\nD. nothing\nWhich one do you prefer?"


@pytest.mark.parametrize("said", [
    "The first one fails on CI with a timeout", "The first one is fixed already", "The new one crashes",
    "the current way is slow, look at the profile", "The last one surprised me", "The lock one is a known bug",
])  # fmt: skip
def test_talk_about_something_in_a_list_is_no_choice(said: str) -> None:
    assert found("Why is it slow?", f"> {_FINDINGS}", said) == []


@pytest.mark.parametrize("said", [
    "The first one loses data", "The second one sounds risky", "The second one would break Windows", "B is slow",
    "The second option has been tried", "The second one, hmm, no", "The second one, it crashes on CI",
    "I think option A is the best documented, what about B", "just a quick question before we go on",
    "I think a third approach could work", "I'd like a different approach", "Let's take a step back",
    "A quick question", "The first one works on Linux", "option A fails on Windows", "B, no, wait", "I'd rename it",
])  # fmt: skip
def test_a_remark_on_an_option_is_no_choice(said: str) -> None:
    assert found("How is it saved?", f"> {_OFFER}", said) == []


@pytest.mark.parametrize("said", [
    "A", "a", "A, with a lock file", "A please", "a because it is simple", "let's go with A", "option a with a timeout",
    "The first one", "the first one, please", "the first one because it is simple", "I'd take the first one for now",
    "The first one is fine", "the first one, not the second", "A is better",
])  # fmt: skip
def test_few_words_choose_an_option(said: str) -> None:
    assert parts("How is it saved?", f"> {_OFFER}", said)[1] == "A. lock the file"


def test_steps_of_an_option_are_no_options() -> None:
    agent = "Your ways:\n\n## Option 1: a bridge\n1. Connects to it\n2. Forwards\n\n## Option 2: a proxy\nRuns beside."
    assert parts("How?", f"> {agent}", "option 2")[1] == "Option 2: a proxy\nRuns beside."


def test_a_rule_before_a_list_of_work_is_one() -> None:
    work = " Then I need: 1. the numbers of all the wheels, from the data sheet of the maker, for each of them."
    (one,) = found("> Which control?", f"From now on the simple control stays, whatever comes.{work} 2. a test of it.")
    assert one.kind == RULE


def test_a_sentence_that_speaks_of_something_else_is_no_question() -> None:
    lines = ("Look at it.", "> The tests of the parser passed. The file was pushed.", "use httpx, not requests")
    (one,) = found(*lines)
    assert one.question is None


def test_an_option_that_is_named_in_a_sentence_is_told() -> None:
    agent = "> **Option A - a line in the release notes**\n**Option B - a badge**\nBoth are simple."
    lines = ("How do we thank them?", agent, "I like Option A, because nothing has to be built for it")
    assert parts(*lines)[1].startswith("Option A - a line in the release notes")


def test_a_long_turn_is_quoted_where_it_settles_something() -> None:
    before = "I looked at the dashboards for a while this morning. " * 5
    after = " The weather in the office is nice today, by the way." * 5
    lines = ("Jobs wait.", "> FIFO on ties?", f"{before}On a tie the shorter job must always come first.{after}")
    (one,) = found(*lines)
    assert words(one, *lines).strip().endswith("On a tie the shorter job must always come first.")


def test_an_agents_recap_is_kept_whole_beside_a_bare_yes() -> None:
    recap = "Settled: merge windows that touch. Ignore what is under 60 seconds. Subtract maintenance."
    lines = ("SLA?", f"> {recap} Shall I write the test?", "Exactly, that's right.")
    (one,) = found(*lines)
    assert one.restated is not None and one.restated.of(dialogue(*lines)[1].text) == recap


@pytest.mark.parametrize("text", ["", " ", "…", "```", "?", "日本", "a" * 50_000, "no\n" * 3_000])
def test_any_text_is_read(text: str) -> None:
    for lines in ((text,), ("x", f"> {text}", text, f"> {text}")):
        for one in found(*lines):
            assert all(span is None or span.end > span.begin for span in (one.words, one.question, one.restated))


def test_a_turn_that_was_sent_before_it_was_done_decides_nothing() -> None:
    early = "From now on never retry a payment."
    (said,) = found(
        "Fix the retries.", "> Done.", early, f"{early} A refund is retried, three times at most.", "> Yes."
    )
    assert said.words.number == 3
    assert [one.words.number for one in found("Fix it.", "> Done.", early, "> Understood.", "Thanks.")] == [2]
