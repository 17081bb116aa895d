"""Where errors become messages and exit codes."""

from __future__ import annotations

import functools
import os
import sys
import textwrap
from collections.abc import Callable
from typing import ParamSpec, TextIO

import typer
from rich.console import Console

from wirelab.errors import EXIT_INTERRUPTED, EXIT_LAB, EXIT_STORAGE, WirelabError
from wirelab.journal import FULL

P = ParamSpec("P")


class _Pipe(Console):
    """A console whose reader may go away, as ``head`` does."""

    def on_broken_pipe(self) -> None:
        """Nothing more is written, and the command ends (:func:`told`)."""
        self.quiet = True
        raise BrokenPipeError


out = _Pipe(highlight=False)
"""For what was asked for."""
err = _Pipe(stderr=True, highlight=False)
"""For progress and messages."""


def folded(text: str, width: int) -> str:
    """Lines of at most ``width`` columns, broken between words alone: paths and commands stay
    whole, to be copied. What a line goes on with is set in by two more columns."""
    return "\n".join(_folded(line, width) for line in text.splitlines())


def _folded(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + "  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def told(command: Callable[P, int]) -> Callable[P, None]:
    """Ends a command with its exit code, and every error with a message instead of a trace."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> None:
        raise typer.Exit(_code(lambda: command(*args, **kwargs)))

    return wrapped


def _code(command: Callable[[], int]) -> int:
    try:
        code = command()
        sys.stdout.flush()
        return code
    except WirelabError as error:
        err.print(folded(f"wirelab: {error}", err.width), style="red", markup=False, soft_wrap=True)
        return error.exit_code
    except KeyboardInterrupt:
        err.print("wirelab: interrupted", style="red")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout, sys.stderr)
        return EXIT_STORAGE
    except OSError as error:
        where = error.filename or "standard output or a file"
        said = f"wirelab: {where} cannot be written or read: {error.strerror}"
        err.print(folded(said, err.width), style="red", markup=False, soft_wrap=True)
        _silence(sys.stdout)
        return EXIT_STORAGE if error.errno in FULL else EXIT_LAB


def _silence(*streams: TextIO) -> None:
    """What is left in their buffers, which nobody takes, is not to be complained of when
    Python ends."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
