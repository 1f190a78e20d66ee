"""Detects by keywords what a prompt asks for (fix, review, ship ...), and texts on the world outside the project."""

from __future__ import annotations

from capture.labels.programs import words

_SAID = 400
_WORDS = 24
_ASKING = 40
_KEPT = 2_048
_SENT = ("delegate", "explore")
_TERSE, _SHORT = 5, 30
_WISHES = (
    ("why", (" why ", "find out", "root cause", "investig", " debug", "diagnos", "figure out", "what happen", " warum",
             "почему", "왜 ", "なぜ", "为什么", "pourquoi", "por qué", "por que ", "perché", "waarom", "원인", "原因")),
    ("ask", (" what ", " how ", " where ", " which ", " explain", " does ", "is there", "can we ", "should we", " wie ",
             "was ist", " como ", "comment ", " что ", " как ", "怎么", "どう", " cómo ", " qué ", " quel")),
    ("wrong", (" error", " fail", "broken", "crash", " bug", "not work", " doesn t", " isn t ", " issue", " problem",
               "exception", "traceback", " wrong", "regress", "flaky", " hang", " slow", " leak", "fehler", "kaputt",
               "ошибк", "오류", "エラー", "错误", "erreur", "errore", "falla")),
    ("survey", (" review", " analy", " explore", "look at", "look into", "understand", "overview", " audit", "research",
                " compare", "evaluat", " assess", " survey", "familiar", "walk me", "summar", " read ", " check ",
                "검토", "분석", "分析", "調査", "analys", "prüf", "revis", "изучи", "посмотри")),
    ("fix", (" fix", " resolve", " repair", " correct", "behebe","исправ", "수정", "修复", "修正", "corrig",
             "arregla")),
    ("make", (" implement", " add ", " create", " write ", " build ", "refactor", " rename", " update", " change ",
              " remove", " delete", " move ", " replace", " port ", "migrat", " extract", " split", " convert",
              "generate", " set up", " make ", " use ", "추가", "구현", "добав", "сделай", "追加", "実装",
               "添加", "实现", " ajoute", "añad", "füge", "erstell", " baue", "작성", "напиши", "créer", "crea ")),
    ("ship", (" commit", " push", " release", " deploy", " publish", " merge", " tag ", " pr ", "pull request", " bump",
              "커밋", "закоммит", "提交", " ship ")),
    ("check", (" tests ", " test ", " lint", " verify", "make sure", " typecheck", "테스트", "тест")),
    ("go", (" continue", " go on ", " yes ", " ok ", " okay ", " do it ", " proceed", " go ahead", " weiter", "продолж",
            "계속", "继续", "続け", " ja ", " next ", " again ", " retry", " sure ", " yep ", " oui ", " sí ", " да ")),
    ("still", (" still ", " again ", "doesn t work", "not working", "same error", "immer noch", " ancora", "todavía",
               "всё ещё", "아직", "まだ", "还是", "toujours", "another attempt")),
    ("plan", (" plan", " design", " propose", "think about", " options", " approach", "brainstorm", "идеи", "設計")),
)  # fmt: skip


class Asked:
    """A prompt as it is read once."""

    __slots__ = ("_by_role", "afar", "first", "text", "wishes", "words")

    def __init__(self, prompt: str) -> None:
        self.text = prompt[:_SAID].lower()
        """In lower case."""
        said = self.text.translate(CUT).split()
        head = f" {' '.join(said[:_ASKING])} "
        found = _wished(head, said[:_ASKING])
        self.first = min(found, default=(0, "none"))[1]
        """The wish that is worded first."""
        self.wishes = [f"wish:{name}" for _, name in found]
        self.wishes.append(f"first:{self.first}")
        if "?" in self.text or "？" in self.text:
            self.wishes.append("wish:?")
        size = "none" if not said else "terse" if len(said) < _TERSE else "short" if len(said) < _SHORT else "long"
        self.wishes.append(f"size:{size}")
        self.afar = afar(self.text)
        """Whether it is about the world outside."""
        self._by_role: dict[str, list[str]] = {}
        self.words = list({f"word:{word[:12]}" for word in said[:_WORDS] if len(word) > 2})

    def features(self, role: str) -> list[str]:
        """Wishes and words, and the wishes beside what a call does."""
        found = self._by_role.get(role)
        if found is None:
            found = [*self.wishes, *(f"{role}+{wish}" for wish in self.wishes), *self.words]
            if self.afar and role in _SENT:
                found += ["asked afar", f"{role}+asked afar {self.afar}"]
            self._by_role[role] = found
        return found


_known: dict[str, Asked] = {}


def asked(prompt: str) -> Asked:
    """A prompt's wishes and words; those met before are not read again."""
    found = _known.get(prompt)
    if found is None:
        if len(_known) >= _KEPT:
            _known.clear()
        found = _known[prompt] = Asked(prompt)
    return found


_anywhere: list[tuple[str, int]] = []
_by_start: dict[str, list[tuple[str, int]]] = {}
"""Stems with the places of their wishes in _WISHES: those that begin a word by two letters of it, and the others."""


def _wished(head: str, said: list[str]) -> list[tuple[int, str]]:
    """Where wishes are worded first in a text of these words, and their names, in the order of _WISHES.

    Of the stems that begin a word only those are looked for that a word begins like: of two hundred, a few.
    """
    if not _anywhere:
        for of, (_, stems) in enumerate(_WISHES):
            for stem in stems:
                begins = stem[0] == " " and len(stem) > 2 and stem[2] != " "
                (_by_start.setdefault(stem[1:3], []) if begins else _anywhere).append((stem, of))
    asked = _anywhere.copy()
    for start in {word[:2] for word in said}:
        asked += _by_start.get(start, ())
    first: dict[int, int] = {}
    for stem, of in asked:
        if stem in head:
            place = head.find(stem)
            if place < first.get(of, len(head)):
                first[of] = place
    return [(first[of], _WISHES[of][0]) for of in sorted(first)]


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
