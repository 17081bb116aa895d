"""Text for people: styled on a terminal alone, with a status that stays below it."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from wirelab.format.console import Console, Line, StatusLine, fold


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> _Terminal:
    """Standard output as a terminal of 40 columns."""
    shown = _Terminal()
    monkeypatch.setattr(Console, "file", shown)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return shown


def test_styles_are_for_terminals_that_want_them(
    terminal: _Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Console().print("words", "red")
    monkeypatch.setenv("NO_COLOR", "1")
    Console().print("plain", "red")
    assert terminal.getvalue() == "\x1b[31mwords\x1b[0m\nplain\n"
    monkeypatch.undo()
    Console().print("piped", "red")
    assert capsys.readouterr().out == "piped\n"


def test_output_is_printed_above_the_status_line_which_is_then_erased(
    terminal: _Terminal,
) -> None:
    console = Console()
    with StatusLine(console) as line:
        line.show(Line("one"), Line("two"))
        console.print("result")
        line.show(Line("three"))
    shown = _screen(terminal.getvalue())
    assert shown == ["result", ""]
    assert "one\ntwo" in terminal.getvalue()


def test_a_status_takes_no_more_columns_than_there_are(terminal: _Terminal) -> None:
    """A line that the terminal would break could not be removed."""
    Console().status([Line("x" * 100)])
    assert terminal.getvalue() == "x" * 39


def test_a_terminal_gets_no_control_characters_but_those_of_styles(terminal: _Terminal) -> None:
    """Run directories and services of others name what is printed."""
    console = Console()
    console.print(f"{console.style('fine', 'green')}\tx\x1b]0;title\x07\x9b2J\u202e\r.", "bold")
    console.status([Line("a\x1b[2Jb")])
    assert terminal.getvalue() == (
        "\x1b[1m\x1b[32mfine\x1b[0m\tx\ufffd]0;title\ufffd\ufffd2J\ufffd\ufffd.\x1b[0m\na\ufffd[2Jb"
    )


def test_a_status_is_for_terminals(capsys: pytest.CaptureFixture[str]) -> None:
    with StatusLine(Console()) as line:
        line.show(Line("moving"))
    assert capsys.readouterr().out == ""


def test_folding_keeps_paths_whole_and_sets_in_what_goes_on() -> None:
    path = "/a/path/that/is/longer/than/any/line/of/it"
    assert fold(f"  see {path} there", 20) == f"  see\n    {path}\n    there"


def _screen(written: str) -> list[str]:
    """The lines that a terminal shows after all that was written (ECMA-48: EL and CUU)."""
    lines, row, rest = [""], 0, written
    while rest:
        if rest.startswith("\x1b[2K"):
            lines[row], rest = "", rest[4:]
        elif rest.startswith("\x1b[1A"):
            row, rest = row - 1, rest[4:]
        elif rest[0] == "\r":
            rest = rest[1:]
        elif rest[0] == "\n":
            row, rest = row + 1, rest[1:]
            lines += [""] * (row + 1 - len(lines))
        else:
            lines[row], rest = lines[row] + rest[0], rest[1:]
    while len(lines) > 1 and lines[-1] == lines[-2] == "":
        lines.pop()
    return lines


def test_a_style_of_a_file_is_not_one_of_this_process(
    terminal: _Terminal, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Console().print("\x1b[31mred\x1b[0m", "bold")
    assert terminal.getvalue() == "\x1b[1m\ufffd[31mred\ufffd[0m\x1b[0m\n"
    monkeypatch.undo()
    Console().print("\x1b[31mred\x1b[0m")
    assert capsys.readouterr().out == "\ufffd[31mred\ufffd[0m\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "ascii:replace"])
def test_an_output_of_any_encoding_gets_every_line(encoding: str) -> None:
    code = (
        "from wirelab.format.console import Console, accept_any_text; accept_any_text();"
        "Console().print('p50 5 µs × 2 – …'); Console(stderr=True).print('ü → \\ud800')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
    )
    expected = {
        "ascii": "p50 5 us x 2 - ...",
        "latin-1": "p50 5 µs × 2 - ...",
        "utf-8": "p50 5 µs × 2 – …",
        "ascii:replace": "p50 5 ?s ? 2 ? ?",
    }
    assert done.stdout.decode(encoding.partition(":")[0]) == f"{expected[encoding]}\n"
