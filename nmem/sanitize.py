"""Neutralizes stored text before an agent reads it: no tags, roles or hidden characters. On the hook's path.

No tag, chat template or mark of ours opens or closes in it, no fence, no role at a beginning, no control, hidden or
bidirectional character; one line, quoted by who tells it, and cut to a length before anything costly is done.
"""

from __future__ import annotations

from capture.text import clean

ELLIPSIS = "…"
_MORE = 6
"""Characters looked at for each one kept: what is dropped (colours, controls) takes room too."""
_SELECTORS = (("\u115f", "\u1160"), ("\u180b", "\u180f"), ("\u3164", "\u3164"), ("\ufe00", "\ufe0f"),
              ("\uffa0", "\uffa0"), ("\U000e0000", "\U000e0fff"))  # fmt: skip
"""Characters that take no room although they count as letters or marks."""
_BRACKETS = {
    ord("<"): "‹",
    ord(">"): "›",
    ord("＜"): "‹",
    ord("＞"): "›",
    ord("﹤"): "‹",
    ord("﹥"): "›",
    ord("［"): "(",
    ord("］"): ")",
}
_OPENING = ("<", "＜", "﹤")
_ALONE = {code: sign for code, sign in _BRACKETS.items() if code != ord(">")}
"""Where nothing opens, a > closes nothing: `make 2>&1 | tail` stays the command that was run."""
_MARKS = ("[nmem", "[/nmem", "[inst", "[/inst", "[sys", "[/sys", "[[", "[system", "[assistant", "[user", "[human")
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
"""Every mark is plain ASCII: so are its letters."""
_ROLES = ("human", "assistant", "system", "user", "developer", "tool", "function")
_FENCES = (("```", "'''"), ("~~~", "---"), ("`````", "'''"))


def neutral(text: str, limit: int = 240) -> str:
    """At most `limit` characters of a text on one line, with nothing in it that acts."""
    text = text[: limit * _MORE + 64]
    if not (text.isascii() and text.isprintable()):
        text = _visible(clean(text))
    for fence, instead in _FENCES:
        if fence in text:
            text = text.replace(fence, instead)
    text = " ".join(text.translate(_BRACKETS if _opens(text) else _ALONE).split())
    if "[" in text:
        text = _unmarked(text)
    if ":" in text:
        text = _unroled(text)
    return cut(text, limit)


def _opens(text: str) -> bool:
    return any(sign in text for sign in _OPENING)


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, ending at a word where there is one near."""
    if len(text) <= limit:
        return text
    text = text[: limit - 1]
    space = text.rfind(" ")
    return (text[:space] if space > limit * 2 // 3 else text).rstrip(" ,;:.") + ELLIPSIS


def whole(text: str, limit: int) -> str:
    """The sentences of a text that fit, the first up to a clause where even that is too long; "" where nothing does.

    What was cut before is not whole: remarks in parentheses that were are left out, other sentences not told.
    """
    text = " ".join(text[: limit * _MORE + 64].split())
    while ELLIPSIS in text and (at := text.rfind("(", 0, text.find(ELLIPSIS))) >= 0:
        end = text.find(")", at)
        text = text[:at].rstrip() + (text[end + 1 :] if end >= 0 else "")
    if ELLIPSIS in text:
        text = _ended(text[: text.find(ELLIPSIS)], _ENDS)
    if len(text) <= limit:
        return text
    return _ended(text[:limit], _ENDS) or _ended(text[:limit], _CLAUSES)


_ENDS, _CLAUSES = (". ", "! ", "? ", "。"), ("; ", ", ", " - ", " – ", " — ", ": ", " (")
_LEAST = 24
"""Characters of a clause that says something by itself."""


def _ended(text: str, ends: tuple[str, ...]) -> str:
    """A text up to its last end of a sentence or clause; "" without one."""
    at = max(text.rfind(end) for end in ends)
    return text[: at + (ends is _ENDS)].rstrip() if at >= (_LEAST // 2 if ends is _ENDS else _LEAST) else ""


def quoted(text: str, limit: int = 240) -> str:
    """The same in quotation marks that it cannot close."""
    inside = neutral(text, limit - 2).replace("“", "'").replace("”", "'").replace('"', "'")
    return f"“{inside}”"


def _visible(text: str) -> str:
    """Without what takes no room; every kind of space is one."""
    if text.isascii():
        return text
    out = []
    for char in text:
        if char.isprintable():
            if char < "\u115f" or not any(low <= char <= high for low, high in _SELECTORS):
                out.append(char)
        elif char.isspace():
            out.append(" ")
    return "".join(out)


def _unmarked(text: str) -> str:
    """Square brackets that open a mark of ours or of a chat template become round."""
    low = text.translate(_LOWER)  # str.lower() makes some letters two: places would shift
    out, start = [], 0
    at = low.find("[")
    while at >= 0:
        if low.startswith(_MARKS, at):
            out.append(text[start:at] + "(")
            start = at + 1
        at = low.find("[", at + 1)
    out.append(text[start:])
    return "".join(out)


def _unroled(text: str) -> str:
    """`Human:` and its like, which open a turn in some transcripts, keep their word and lose their colon."""
    words = text.split(" ")
    for at, word in enumerate(words):
        if ":" in word:
            head, _, tail = word.partition(":")
            if head.strip("#*_>-([{'\"").lower() in _ROLES and (not tail or not tail[0].isalnum()):
                words[at] = head + " -" + _unroled(tail)
    return " ".join(words)
