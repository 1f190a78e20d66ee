"""Parses a command line: its simple commands, operators, and redirections.

One pass over the text, in linear time, for POSIX shells; PowerShell's quoting when told so. Nothing is run or expanded.
"""

from __future__ import annotations

_DEPTH = 24  # of groups and substitutions; deeper ones are read as text
_BLANK = " \t\r"
_ENDS = frozenset(" \t\r\n;&|()<>\"'\\$`")
_NOT_PLAIN = dict.fromkeys(map(ord, "\n;&|()<>\"'\\$`#\x0b\x0c\x1c\x1d\x1e\x1f"))
"""What a line of mere words has none of: signs of the shell, and what only str.split takes for a blank."""
_NEAR = 80
"""Characters in which the end of a word is looked for at once."""
_JOINS = ("&&", "||", "|&", ";;", ";", "&", "|")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "", "e": "", "0": ""}


class Simple:
    """One simple command: words after quoting, and what stands around it."""

    __slots__ = ("after", "argv", "body", "level", "nested", "reads", "unwrapped", "writes")

    def __init__(self, level: int, nested: bool) -> None:
        self.argv: list[str] = []
        self.unwrapped: list[str] = []
        """The words without wrappers such as sudo; empty until they are asked for."""
        self.after = ""
        """The operator that joins it to the next command: | && || ; & or nothing."""
        self.body = ""
        """The text of its heredoc or here-string."""
        self.level = level
        self.nested = nested
        """Inside a substitution: it runs, but another command uses what it prints."""
        self.reads: list[str] = []
        self.writes: list[str] = []


def scan(text: str, powershell: bool = False) -> list[Simple]:
    """The simple commands of a script in the order they are written; any text is accepted."""
    if text.isascii() and len(text.translate(_NOT_PLAIN)) == len(text):
        return _plain(text.split())
    scanner = _Scanner(text, powershell)
    while scanner.at < len(text):
        scanner.script("")
    scanner.finish("")
    return scanner.commands


def _plain(words: list[str]) -> list[Simple]:
    """A line without any sign of the shell."""
    only = Simple(0, False)
    only.argv = words
    return [only] if words else []


class _Scanner:
    __slots__ = ("at", "commands", "current", "depth", "escape", "level", "nested", "pending", "size", "text", "word")

    def __init__(self, text: str, powershell: bool) -> None:
        self.text = text
        self.size = len(text)
        self.at = 0
        self.level = 0
        self.nested = 0
        self.depth = 0
        self.escape = "`" if powershell else "\\"
        self.commands: list[Simple] = []
        self.current = Simple(0, False)
        self.word: str | None = None
        self.pending: list[tuple[Simple, str, bool]] = []

    def script(self, end: str) -> None:
        """Read commands up to the closing character of their group, or to the end of the text."""
        text, size = self.text, self.size
        while self.at < size:
            char = text[self.at]
            if char not in _ENDS:
                self.plain()
            elif char in _BLANK:
                self.at += 1
                self.flush()
            elif char == end:
                self.at += 1
                self.finish("")
                return
            elif char == "\n":
                self.newline(end)
            elif char in "<>":
                self.redirection(char)
            else:
                self.special(char)
        self.finish("")

    def special(self, char: str) -> None:
        """Operators, groups and quotes."""
        if char in ";&|":
            self.operator()
        elif char == "(":
            self.group()
        elif char == ")":
            self.at += 1
            self.finish("")
        elif char == self.escape and self.text[self.at + 1 : self.at + 3].lstrip("\r")[:1] == "\n":
            self.at = self.text.find("\n", self.at) + 1  # the line goes on
        else:
            self.add(self.quoted(char))

    def plain(self) -> None:
        """A stretch of ordinary characters: part of a word, or a comment."""
        text, size, start = self.text, self.size, self.at
        if self.word is None and text[start] == "#":
            stop = text.find("\n", start)
            self.at = size if stop < 0 else stop
            return
        at = text.find(" ", start, start + _NEAR)
        if at < 0 or not _ENDS.isdisjoint(text[start:at]):
            at = start + 1
            while at < size and text[at] not in _ENDS:
                at += 1
        self.at = at
        self.add(text[start:at])

    def add(self, part: str) -> None:
        self.word = part if self.word is None else self.word + part

    def flush(self) -> None:
        """The word ends."""
        if self.word is not None:
            self.current.argv.append(self.word)
            self.word = None

    def finish(self, join: str) -> None:
        """The simple command ends."""
        self.flush()
        current = self.current
        if current.argv or current.body or current.writes or current.reads:
            current.after = join
            self.commands.append(current)
        elif join and self.commands and not self.commands[-1].after and self.level <= self.commands[-1].level:
            self.commands[-1].after = join  # what follows a closed group follows its last command
        self.current = Simple(self.level, self.nested > 0)

    def operator(self) -> None:
        text = self.text
        if text.startswith("&>", self.at):
            self.at += 1
            self.redirection(">")
            return
        for join in _JOINS:
            if text.startswith(join, self.at):
                self.at += len(join)
                self.finish("|" if join == "|&" else ";" if join == ";;" else join)
                return

    def newline(self, end: str) -> None:
        self.at += 1
        self.finish(";")
        if self.pending:
            pending, self.pending = self.pending, []
            for command, delimiter, tabs in pending:
                command.body = self.heredoc(delimiter, tabs, end)

    def heredoc(self, delimiter: str, tabs: bool, end: str) -> str:
        """The lines up to the delimiter; inside a substitution its closing bracket may follow at once."""
        text, start = self.text, self.at
        while self.at < self.size:
            stop = text.find("\n", self.at)
            stop = self.size if stop < 0 else stop
            line = text[self.at : stop].rstrip("\r")
            line = line.lstrip("\t") if tabs else line
            if line == delimiter:
                body, self.at = text[start : self.at], min(stop + 1, self.size)
                return body
            if end and line.startswith(delimiter + end):
                body, self.at = text[start : self.at], text.find(delimiter, self.at) + len(delimiter)
                return body
            self.at = stop + 1
        self.at = self.size
        return text[start:]

    def redirection(self, char: str) -> None:
        """> >> 2> 2>&1 < << <<- <<< and process substitution; the target belongs to no argument."""
        text = self.text
        if text.startswith(char + "(", self.at):
            self.at += 1
            self.inner(")")
            self.add("")
            return
        if self.word is not None and self.word.isdigit() and len(self.word) == 1:
            self.word = None
        self.flush()
        start = self.at
        while self.at < self.size and text[self.at] in "<>&|-" and self.at - start < 3:
            self.at += 1
        sign = text[start : self.at]
        if sign == "<<-" or not sign.endswith("-"):
            target = self.target()
        else:
            return
        self.redirected(sign, target)

    def redirected(self, sign: str, target: str) -> None:
        if sign == "<<<":
            self.current.body = target
        elif sign.startswith("<<"):
            if target:
                self.pending.append((self.current, target, sign == "<<-"))
        elif sign.startswith("<"):
            self.current.reads.append(target)
        elif not sign.endswith("&") and target:
            self.current.writes.append(target)

    def target(self) -> str:
        """The next word, read on its own."""
        text, size = self.text, self.size
        while self.at < size and text[self.at] in _BLANK:
            self.at += 1
        word = ""
        while self.at < size and text[self.at] not in " \t\r\n;&|()<>":
            char = text[self.at]
            if char in "\"'\\$`":
                word += self.quoted(char)
                continue
            start = self.at
            while self.at < size and text[self.at] not in _ENDS:
                self.at += 1
            word += text[start : self.at]
        return word

    def group(self) -> None:
        """( ... ) : a subshell, an arithmetic (( )), a function's () or an array's words."""
        if self.text.startswith("((", self.at):
            stop = self.text.find("))", self.at, self.at + 200)
            if stop > 0 and "\n" not in self.text[self.at : stop]:
                self.at = stop + 2
                return
        self.at += 1
        if self.depth >= _DEPTH:
            return
        self.finish("")
        self.depth += 1
        self.level += 1
        self.current = Simple(self.level, self.nested > 0)
        self.script(")")
        self.depth -= 1
        self.level -= 1
        self.current = Simple(self.level, self.nested > 0)

    def quoted(self, char: str) -> str:
        """The text of a quotation, an escape or a substitution that begins here."""
        if char == "'":
            return self.single()
        if char == '"':
            self.at += 1
            return self.double()
        if char == self.escape:
            after = self.text[self.at + 1 : self.at + 2]
            self.at += 2
            return "" if after == "\n" else after
        if char == "\\":
            self.at += 1
            return char
        return self.substitution(char)

    def single(self) -> str:
        start = self.at + 1
        stop = self.text.find("'", start)
        stop = self.size if stop < 0 else stop
        self.at = stop + 1
        return self.text[start:stop]

    def double(self) -> str:
        """Up to the closing quote; substitutions inside are read as commands."""
        text, size, escape = self.text, self.size, self.escape
        parts = []
        while self.at < size:
            start = at = self.at
            while at < size and text[at] not in '"\\$`':
                at += 1
            parts.append(text[start:at])
            self.at = at
            if at >= size:
                break
            char = text[at]
            if char == '"':
                self.at += 1
                break
            if char == escape:
                after = text[at + 1 : at + 2]
                parts.append(after if after in '"\\$`' else "" if after == "\n" else char + after)
                self.at += 2
            elif char in "\\`" and escape == "`":
                parts.append(char)
                self.at += 1
            else:
                parts.append(self.substitution(char))
        return "".join(parts)

    def substitution(self, char: str) -> str:
        """$( ) ` ` ${ } $(( )) $'...' or a plain $; what stands for the word is its own source."""
        text, start = self.text, self.at
        if char == "`":
            return self.backticks()
        after = text[start + 1 : start + 2]
        if text.startswith("$((", start) and (stop := text.find("))", start, start + 200)) > 0:
            self.at = stop + 2
        elif after == "(":
            self.at += 1
            return self.inner(")")
        elif after == "{":
            stop = text.find("}", start, start + 1000)
            self.at = stop + 1 if stop > 0 else start + 2
        elif after == "'" and self.escape == "\\":
            return self.ansi()
        else:
            self.at += 1
        return text[start : self.at]

    def ansi(self) -> str:
        """$'...' with its escapes."""
        text, size = self.text, self.size
        self.at += 2
        parts = []
        while self.at < size and text[self.at] != "'":
            char = text[self.at]
            if char == "\\":
                self.at += 1
                char = text[self.at : self.at + 1]
                char = _ESCAPES.get(char, char)
            parts.append(char)
            self.at += 1
        self.at += 1
        return "".join(parts)

    def backticks(self) -> str:
        start = self.at + 1
        stop = self.text.find("`", start)
        stop = self.size if stop < 0 else stop
        self.at = stop + 1
        if stop > start:
            for command in scan(self.text[start:stop]) if "`" not in self.text[start:stop] else ():
                command.nested = True
                self.commands.append(command)
        return self.text[start - 1 : self.at]

    def inner(self, end: str) -> str:
        """The commands of a substitution; a heredoc that cat prints stands for itself."""
        start = self.at
        self.at += 1
        if self.depth >= _DEPTH:
            return self.text[start : self.at]
        saved = self.current, self.word, self.pending, self.level
        self.pending = []
        self.nested += 1
        self.depth += 1
        self.level = 0
        first = len(self.commands)
        self.current, self.word = Simple(0, True), None
        self.script(end)
        self.nested -= 1
        self.depth -= 1
        self.current, self.word, self.pending, self.level = saved
        inside = self.commands[first:]
        if len(inside) == 1 and inside[0].argv == ["cat"] and inside[0].body:
            return inside[0].body.rstrip("\n")
        return "$" + self.text[start : self.at]
