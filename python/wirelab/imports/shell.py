"""The words of a command line, as a POSIX shell, bash or cmd.exe passes them to a program.

Nothing is run. What a shell would do besides starting the program (pipes, redirections, further
commands) is ignored and named; what would change a word in a way that is not known here, such as
``$(…)``, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from wirelab.errors import UsageError
from wirelab.experiment.secret_values import VARIABLE

ENCODING = ("utf-8", "surrogateescape")
"""Words may have bytes that are not UTF-8, as arguments of a program may."""
SHOWN_MAX = 60
"""Characters of an ignored part that a note repeats."""
_NAME = re.compile(r"\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)", re.ASCII)
_REDIRECTION = re.compile(r"(\d*)(<<<|<<-?|<>|<&|<|>>|>&|>\||>)")
_END = re.compile(r"\|\||\||&&|&|;|\(|\)")
_ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|c(.)|(.))",
    re.DOTALL,
)
_LETTERS = dict(zip("abeEfnrtv", "\a\b\x1b\x1b\f\n\r\t\v", strict=True))
_REMEDY = "write the value itself, in single quotes"


@dataclass
class Command:
    """One command."""

    words: list[str] = field(default_factory=list)
    stdin: str | None = None
    """Text of a here-document."""
    stdin_file: str | None = None
    variables: set[str] = field(default_factory=set)
    """Of the environment; each is ``${NAME}`` in the words."""
    notes: list[str] = field(default_factory=list)
    """What was ignored."""

    def ignore(self, part: str) -> None:
        """Notes a part that belongs to the shell."""
        shown = " ".join(part.split())
        shown = shown if len(shown) <= SHOWN_MAX else f"{shown[:SHOWN_MAX]}…"
        self.notes.append(f"ignored, because it belongs to the shell: {shown}")


def split(text: str) -> Command:
    """The first command. Raises :class:`UsageError`."""
    if re.search(r"\^[\"\r\n]", text):
        return _split_windows(text)
    return _Reader(re.sub(r"^\s*\$\s+", "", text)).read()


class _Reader:
    """Reads one command of a POSIX shell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._word: bytearray | None = None
        self._heredocs: list[tuple[str, bool]] = []
        """Ends of here-documents that begin at the next line, and whether tabs are removed."""
        self._command = Command()

    def read(self) -> Command:
        """The command. Raises :class:`UsageError`."""
        while self._at < len(self._text):
            if not self._step():
                break
        self._end_word()
        if self._heredocs:
            raise _refuse(f"the here-document has no end {self._heredocs[0][0]}", "add the line")
        rest = self._text[self._at :].strip()
        if rest:
            self._command.ignore(rest)
        return self._command

    def _step(self) -> bool:
        """One character, or what begins with it; False at the end of the command."""
        char = self._text[self._at]
        if char == "\n":
            return self._end_line()
        if char.isspace():
            self._end_word()
        elif char == "#" and self._word is None:
            self._at = self._find("\n")
            return True
        elif found := self._redirection():
            self._redirect(found)
            return True
        elif _END.match(self._text, self._at):
            self._end_word()
            return False
        elif self._is_home():
            self._add(str(Path.home()))
        else:
            self._read_quoted_or_plain(char)
            return True
        self._at += 1
        return True

    def _read_quoted_or_plain(self, char: str) -> None:
        quotes: dict[str, Callable[[], None]] = {
            "'": self._single,
            '"': self._double,
            "\\": self._backslash,
            "$": self._dollar,
            "`": self._substitution,
        }
        if char in quotes:
            quotes[char]()
        else:
            self._add(char)
            self._at += 1

    def _add(self, text: str | bytes) -> None:
        self._word = self._word if self._word is not None else bytearray()
        self._word += text if isinstance(text, bytes) else text.encode(*ENCODING)

    def _end_word(self) -> None:
        if self._word is not None:
            self._command.words.append(self._word.decode(*ENCODING))
        self._word = None

    def _end_line(self) -> bool:
        self._end_word()
        self._at += 1
        for end, has_tabs in self._heredocs:
            self._command.stdin = self._heredoc(end, has_tabs=has_tabs)
        self._heredocs.clear()
        return not self._command.words

    def _heredoc(self, end: str, *, has_tabs: bool) -> str:
        lines: list[str] = []
        while self._at < len(self._text):
            until = self._find("\n")
            line = self._text[self._at : until]
            self._at = min(until + 1, len(self._text))
            line = line.lstrip("\t") if has_tabs else line
            if line.rstrip("\r") == end:
                return "".join(f"{one}\n" for one in lines)
            lines.append(line)
        raise _refuse(f"the here-document has no end {end}", "add the line")

    def _redirection(self) -> re.Match[str] | None:
        """A number of a file is one only where a word would begin."""
        if self._text.startswith("&>", self._at):
            return re.compile(r"&()(>>?)").match(self._text, self._at)
        found = _REDIRECTION.match(self._text, self._at)
        return None if found and found[1] and self._word is not None else found

    def _redirect(self, found: re.Match[str]) -> None:
        self._end_word()
        begin, self._at = self._at, found.end()
        target = self._target()
        operator = found[2]
        if operator.startswith("<<<"):
            self._command.stdin = f"{target}\n"
        elif operator.startswith("<<"):
            self._heredocs.append((target, operator == "<<-"))
        elif operator == "<":
            self._command.stdin_file = target
        else:
            self._command.ignore(self._text[begin : self._at])

    def _target(self) -> str:
        """The word behind a redirection."""
        while self._at < len(self._text) and self._text[self._at] in " \t":
            self._at += 1
        while self._at < len(self._text):
            char = self._text[self._at]
            if char.isspace() or _END.match(self._text, self._at) or char in "<>":
                break
            self._read_quoted_or_plain(char)
        word, self._word = self._word, None
        return "" if word is None else word.decode(*ENCODING)

    def _is_home(self) -> bool:
        is_alone = re.compile(r"~(?=[/\s]|$)").match(self._text, self._at)
        return self._word is None and is_alone is not None

    def _single(self) -> None:
        end = self._end_of_quotes("'", self._at + 1)
        self._add(self._text[self._at + 1 : end])
        self._at = end + 1

    def _double(self) -> None:
        self._add("")
        self._at += 1
        while not self._text.startswith('"', self._at):
            if self._at >= len(self._text):
                raise _refuse('a quotation " has no end', "add it at the end of the text")
            char = self._text[self._at]
            if char == "\\" and re.compile(r"\\(\r?\n|[$`\"\\])").match(self._text, self._at):
                self._backslash()
            elif char == "$" and self._text[self._at + 1 : self._at + 2] not in ("'", '"'):
                self._dollar()
            elif char == "`":
                self._substitution()
            else:
                self._add(char)
                self._at += 1
        self._at += 1

    def _backslash(self) -> None:
        """The next character as it is; a line end joins two lines."""
        joined = re.compile(r"\\\r?\n").match(self._text, self._at)
        if joined:
            self._at = joined.end()
            return
        self._add(self._text[self._at + 1 : self._at + 2] or "\\")
        self._at += 2

    def _dollar(self) -> None:
        following = self._text[self._at + 1 : self._at + 2]
        if following == "'":
            self._ansi()
        elif following == '"':
            self._at += 1
        elif found := _NAME.match(self._text, self._at + 1):
            self._variable(str(found[1] or found[2]))
            self._at = found.end()
        elif following in ("(", "{"):
            self._substitution()
        else:
            self._add("$")
            self._at += 1

    def _variable(self, name: str) -> None:
        """As the experiment file has it."""
        if not VARIABLE.fullmatch(f"${{{name}}}"):
            raise _refuse(f"the shell would put the value of ${name} there", _REMEDY)
        self._add(f"${{{name}}}")
        self._command.variables.add(name)

    def _ansi(self) -> None:
        """``$'…'`` of bash."""
        found = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL).match(self._text, self._at)
        if found is None:
            self._end_of_quotes("'", len(self._text))
        content, done = str(found[1] if found else ""), 0
        self._add("")
        self._at += len(content) + 3
        for escape in _ESCAPE.finditer(content):
            self._add(content[done : escape.start()])
            done = escape.end()
            if (character := _decode_escape(escape)) == b"\0":
                return  # bash ends the text there
            self._add(character)
        self._add(content[done:])

    def _substitution(self) -> None:
        part = self._text[self._at : self._at + 20].splitlines()[0]
        raise _refuse(f"the shell would put something else in the place of {part}…", _REMEDY)

    def _end_of_quotes(self, quote: str, begin: int) -> int:
        end = self._text.find(quote, begin)
        if end < 0:
            raise _refuse(f"a quotation {quote} has no end", "add it at the end of the text")
        return end

    def _find(self, text: str) -> int:
        at = self._text.find(text, self._at)
        return len(self._text) if at < 0 else at


def _decode_escape(escape: re.Match[str]) -> bytes:
    octal, byte, short, long, control, letter = escape.groups()
    if octal or byte:
        return bytes([(int(octal, 8) if octal else int(byte, 16)) & 0xFF])
    if short or long:
        code = int(short or long, 16)
        return chr(code).encode(*ENCODING) if code <= 0x10FFFF else b""
    if control:
        return bytes([ord(control.upper()[0]) & 0x1F])
    if letter in "\\'\"?":
        return str(letter).encode()
    return str(_LETTERS.get(letter, f"\\{letter}")).encode(*ENCODING)


def _split_windows(text: str) -> Command:
    """As cmd.exe and then the C library of Windows read it (browsers copy commands in this
    form)."""
    command = Command()
    line, rest = _remove_carets(text)
    if rest.strip():
        command.ignore(rest)
    command.words = _windows_words(line)
    return command


def _remove_carets(text: str) -> tuple[str, str]:
    """What cmd.exe passes on, and what belongs to it: a pipe, a redirection, a further command."""
    out: list[str] = []
    is_quoted = False
    at = 0
    while at < len(text):
        char = text[at]
        if char == "^" and not is_quoted:
            # A caret at the end of a line escapes what the next line begins with.
            found = re.compile(r"\^(?:\r?\n)?(\r?\n|.|)", re.DOTALL).match(text, at)
            out.append(found[1] if found else "")
            at = found.end() if found else at + 1
            continue
        if not is_quoted and char in "|<>&\n":
            return "".join(out), text[at:]
        is_quoted ^= char == '"'
        out.append(char)
        at += 1
    return "".join(out), ""


def _windows_words(line: str) -> list[str]:
    """By the rules of ``CommandLineToArgvW``."""
    words: list[str] = []
    word: list[str] | None = None
    is_quoted = False
    for found in re.finditer(r'(\\*)(")|(\\+)|(.)', line, re.DOTALL):
        slashes, quote, alone, char = found.groups()
        if char is not None and char in " \t\r\n" and not is_quoted:
            if word is not None:
                words.append("".join(word))
            word = None
            continue
        word = [] if word is None else word
        if not quote:
            word.append(alone or char)
            continue
        word.append("\\" * (len(slashes) // 2))
        if len(slashes) % 2:
            word.append('"')
        else:
            is_quoted = not is_quoted
    if is_quoted:
        raise _refuse('a quotation " has no end', "add it at the end of the text")
    return [*words, *(["".join(word)] if word is not None else [])]


def _refuse(message: str, remedy: str) -> UsageError:
    return UsageError(f"this is not a command of a shell: {message}", remedy)
