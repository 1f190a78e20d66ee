"""Detects texts on the world outside the project: a subagent's task, a prompt's request."""

from __future__ import annotations

from capture.labels.programs import words

CUT = str.maketrans(dict.fromkeys("\n\t.,:;!?()[]{}<>\"'`*#=|/\\_-+@$%&~^", " "))
"""What is no part of a word."""
_READ = 600
_SURELY = (
    " web search", " websearch", " search the web", " search web", " on the web", " from the web", " the internet",
    " online ", " github com", " stack overflow", " stackoverflow", " google search", " google it", " hacker news",
    " wikipedia", " official doc", " competitor", " market research", " best practices", " state of the art",
    " latest version", " latest release", " newest version", " release notes of", " changelog of", " web research",
    " external repo", " public repo", " open source alternat", " im internet", " im netz", " im web",
    " aktuelle version", " en internet", " en línea", " en la web", " sur internet", " en ligne", " sur le web",
    " na internet", " no google", " su internet", " в интернет", " загугл", " погугл", " internette", "인터넷",
    "웹에서", "웹 검색", "최신 버전", "검색해", "ネットで", "ウェブ", "最新版", "检索", "联网", "网上", "互联网",
    "网络搜索", "最新版本",
)  # fmt: skip
"""It says so."""
_PERHAPS = words("""
    alternatives api apis articles benchmark benchmarks blog community compare comparison compatibility crates
    current deprecated docs documentation ecosystem examples existing external forum forums guide guidelines
    industry known landscape latest libraries library licence license licenses market modern newest news npm
    options outside papers popular prices pricing product products projects providers pypi recommended reddit
    regulations release released releases research sdk service services specification standards support
    supported third tools trends upstream vendors version versions web website websites
""")
"""Words that are more often about the world than about the project."""
_HERE = words("""
    branch caller callers class code codebase config diff directory file files folder function functions import
    imports internal local module modules our package packages path project repo repository schema src test
    tests this tree usages
""")
"""Words that are more often about the project."""


def afar(text: str) -> str:
    """ "sure", "maybe" or "" for what a text is about."""
    said = f" {' '.join(text[:_READ].lower().translate(CUT).split())} "
    if "://" in text or True in [sign in said for sign in _SURELY]:
        return "sure"
    tokens = said.split()
    about = sum(token in _PERHAPS for token in tokens) - sum(token in _HERE for token in tokens)
    return "maybe" if about > 0 else ""
