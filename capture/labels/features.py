"""A call, the last calls of its session and the prompt, as short words: what the weights are kept for."""

from __future__ import annotations

from capture.labels.rules import THINKING, verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from capture.labels.calls import Call, Seen

_RULES = ("act", "converge", "external", "novel", "friction")
_WORDS = 24
_CONTENT_WORDS = 12
_SPOKEN = frozenset(("delegate", "explore", "mcp", "web", "skill", "ask", "plan", "other"))
_CUT = str.maketrans(dict.fromkeys("\n\t.,:;!?()[]{}<>\"'`*#=|/\\_-+@$%&~^", " "))
_SAMPLES = 2_048
_SAID = 600
_ALIKE = 100
"""Characters by which two commands are compared."""
_INTENTS = (
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
    ("fix", (" fix", " resolve", " repair", " correct", "behebe", "исправ", "수정", "修复", "修正", "corrig", "arregla")),
    ("make", (" implement", " add ", " create", " write ", " build ", "refactor", " rename", " update", " change ",
              " remove", " delete", " move ", " replace", " port ", "migrat", " extract", " split", " convert",
              "generate", " set up", " make ", " use ", "추가", "구현", "добав", "сделай", "追加", "実装", "添加", "实现",
              " ajoute", "añad", "füge", "erstell", " baue", "작성", "напиши", "créer", "crea ")),
    ("ship", (" commit", " push", " release", " deploy", " publish", " merge", " tag ", " pr ", "pull request", " bump",
              "커밋", "закоммит", "提交", " ship ")),
    ("check", (" tests ", " test ", " lint", " verify", "make sure", " typecheck", "테스트", "тест")),
    ("go", (" continue", " go on ", " yes ", " ok ", " okay ", " do it ", " proceed", " go ahead", " weiter", "продолж",
            "계속", "继续", "続け", " ja ", " next ", " again ", " retry", " sure ", " yep ", " oui ", " sí ", " да ")),
    ("still", (" still ", " again ", "doesn t work", "not working", "same error", "immer noch", " ancora", "todavía",
               "всё ещё", "아직", "まだ", "还是", "toujours", "another attempt")),
    ("plan", (" plan", " design", " propose", "think about", " options", " approach", "brainstorm", "идеи", "設計")),
)  # fmt: skip
Asked = tuple[list[str], list[str], str, str]
_asked: dict[str, Asked] = {}


def features(seen: Seen) -> list[str]:
    """The words that hold of a call; each at most once."""
    call, previous = seen.call, seen.previous
    wishes, words, first, said = asked(seen.prompt)
    out = _own(call)
    out += _before(call, previous, first)
    out += wishes
    out += words
    role = call.role
    out += [f"{role}+{wish}" for wish in wishes]
    if call.base and call.base.lower() in said:
        out.append(f"named+{role}")
    for name, holds in zip(_RULES, verdicts(seen), strict=True):
        if holds:
            out.append(f"rule:{name}")
    return out


def _own(call: Call) -> list[str]:
    """What the call is."""
    role = call.role
    out = [f"role:{role}", f"kind:{call.kind}", f"tool:{call.tool[:30]}"]
    out += [f"head:{head}" for head in call.heads[:5]]
    out += [f"does:{one}" for one in call.roles[:5] if one != "run" or role == "run"]
    out += [f"mark:{mark}" for mark in call.marks]
    if len(call.heads) > 1:
        out.append("several")
    if call.failed:
        out.append("failed")
        out.append(f"failed+{role}")
    if call.external:
        out.append("external")
    if call.path:
        out += _place(call)
    if role in _SPOKEN:
        words = call.text[:300].lower().translate(_CUT).split()[:_CONTENT_WORDS]
        out += sorted({f"says:{word[:12]}" for word in words})
    if call.kind == "search":
        out += _pattern(call)
    return out


def _place(call: Call) -> list[str]:
    """What sort of file it is."""
    base, role = call.base.lower(), call.role
    path = call.path.lower()
    extension = base.rpartition(".")[2][:8] if "." in base else "none"
    if "test" in path or "spec" in base:
        sort = "test"
    elif "plan" in path:
        sort = "plan"
    elif extension in ("md", "rst", "txt", "adoc", "mdx"):
        sort = "doc"
    elif extension in ("json", "toml", "yaml", "yml", "ini", "cfg", "lock", "xml", "env", "none", "gradle", "conf"):
        sort = "config"
    else:
        sort = "code"
    out = [f"ext:{extension}", f"file:{sort}", f"{role}+{sort}"]
    if "/." in path or path[:1] == ".":
        out.append("hidden")
    if "readme" in base or base in ("claude.md", "agents.md", "package.json", "pyproject.toml", "cargo.toml", "go.mod"):
        out.append(f"{role}+front")
    return out


def _pattern(call: Call) -> list[str]:
    """How wide a search is."""
    text = call.text
    out = []
    if "**" in text:
        out.append("wide:**")
    if "*" in text:
        out.append("wide:*")
    if "|" in text and not call.heads:
        out.append("wide:|")
    word = text.partition(" in ")[0].strip()
    if word.isidentifier():
        out.append("wide:symbol")
    if call.tool in ("Glob", "LS", "glob", "list_directory"):
        out.append("wide:names")
    return out


def _before(call: Call, previous: object, first: str) -> list[str]:
    """What the session did just before, and what the call has to do with it."""
    calls: list[Call] = list(previous)  # type: ignore[call-overload]
    role, many = call.role, len(calls) + sum(one.failed for one in calls)
    out = [f"before:{many}", f"{role}+before:{many}"] if many < 3 else []
    if not calls:
        out.append(f"opens+{first}")
        return out
    last = calls[0]
    out += (f"last:{last.role}", f"{role}<{last.role}", f"last+{last.kind}")
    if len(calls) > 1:
        out.append(f"last2:{calls[1].role}")
        out.append(f"{role}<<{calls[1].role}")
    run, failed, changed, away = 0, 0, 0, 0
    roles = set()
    going = True
    for at, one in enumerate(calls, 1):
        roles.add(one.role)
        going = going and one.role == role
        run += going
        if one.failed and not failed:
            failed = at
        if one.changes and not changed:
            changed = at
        away += one.external
    out += [f"had:{one}" for one in roles]
    if run:
        out.append(f"run:{role}{run}")
    if failed:
        out += _after_failure(call, calls, failed)
    else:
        out.append("calm")
    if changed:
        out += ("changed", f"{role}+changed", f"{role}+changed{changed}")
    else:
        out += ("unchanged", f"{role}+unchanged" if many < 4 else f"{role}+unchanged long")
    if away:
        out.append("away")
    if roles <= THINKING:
        out.append(f"{role}+looking")
        if role not in THINKING:
            out.append("looking")
    if call.path:
        out += _same_file(call, calls)
    elif call.heads:
        out += _same_command(call, calls)
    return out


def _after_failure(call: Call, calls: list[Call], at: int) -> list[str]:
    failed, role = calls[at - 1], call.role
    out = [f"after:{at}", f"{role}+after:{at}", f"{role}+failed:{failed.role}"]
    if sum(one.failed for one in calls) > 1:
        out.append("failures")
    if not any(one.changes for one in calls[: at - 1]):
        out += ("unrepaired", f"{role}+unrepaired", f"{role}+failed:{failed.role}+unrepaired")
        if role == failed.role:
            out.append("retry")
    if call.path and failed.path == call.path:
        out.append("same>failed")
    if call.heads and failed.heads:
        if call.text[:_ALIKE] == failed.text[:_ALIKE]:
            out.append("again>failed")
        elif set(call.heads) & set(failed.heads):
            out.append("like>failed")
    if role == failed.role:
        out.append("role>failed")
        if at == 1:
            out.append("role>failed1")
    return out


def _same_file(call: Call, calls: list[Call]) -> list[str]:
    role = call.role
    out = []
    for at, one in enumerate(calls, 1):
        if one.path == call.path:
            out = [f"same>{one.role}", f"{role}>{one.role}", f"{role}>same{at}"]
            break
    else:
        out.append(f"{role}>new")
    if any(one.folder == call.folder for one in calls if one.path):
        out.append(f"{role}>near")
    elif any(one.path for one in calls):
        out.append(f"{role}>far")
    return out


def _same_command(call: Call, calls: list[Call]) -> list[str]:
    text = call.text[:_ALIKE]
    for at, one in enumerate(calls, 1):
        if one.text[:_ALIKE] == text:
            return ["again", f"again{at}"]
    mine = set(call.heads)
    return ["like"] if any(mine.intersection(one.heads) for one in calls) else ["unlike", f"{call.role}+unlike"]


def asked(prompt: str) -> Asked:
    """What a prompt wants, its words, its first wish, and its text in lower case; those met before are not read again."""
    found = _asked.get(prompt)
    if found is None:
        if len(_asked) >= _SAMPLES:
            _asked.clear()
        found = _asked[prompt] = _read(prompt)
    return found


def _read(prompt: str) -> Asked:
    said = prompt[:_SAID].lower()
    bare = said.translate(_CUT)
    words = bare.split()
    head = f" {' '.join(words[:50])} "
    found = [(place, name) for name, stems in _INTENTS for place in [_first(head, stems)] if place >= 0]
    first = min(found, default=(0, "none"))[1]
    out = [f"wish:{name}" for _, name in found]
    out.append(f"first:{first}")
    if "?" in said[:400] or "？" in said[:400]:
        out.append("wish:?")
    size = "none" if not words else "terse" if len(words) < 5 else "short" if len(words) < 30 else "long"
    out.append(f"size:{size}")
    return out, sorted({f"word:{word[:12]}" for word in words[:_WORDS] if len(word) > 2}), first, said


def _first(text: str, stems: tuple[str, ...]) -> int:
    return min((place for place in map(text.find, stems) if place >= 0), default=-1)
