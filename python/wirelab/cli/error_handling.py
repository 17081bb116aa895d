"""Turns errors into messages and exit codes."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any, TextIO

from click.exceptions import Exit

from wirelab.errors import EXIT_INTERRUPTED, EXIT_LAB, EXIT_STORAGE, WirelabError
from wirelab.format.console import Console, fold

__all__ = ["err", "exit_with_code", "fold", "out"]

out = Console()
"""Standard output, for results."""
err = Console(stderr=True)
"""Standard error, for progress and messages."""


def exit_with_code(command: Callable[..., int]) -> Callable[..., None]:
    """Makes a command exit with its code; errors print a message instead of a traceback."""

    @functools.wraps(command)
    def run_and_exit(**options: Any) -> None:
        raise Exit(_code(lambda: command(**options)))

    return run_and_exit


def _code(command: Callable[[], int]) -> int:
    try:
        code = command()
        sys.stdout.flush()
        return code
    except WirelabError as error:
        err.print(fold(f"wirelab: {error}", err.width), style="red")
        return error.exit_code
    except KeyboardInterrupt:
        err.print("wirelab: interrupted", style="red")
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        _silence(sys.stdout, sys.stderr)
        return EXIT_STORAGE
    except OSError as error:
        return _report_refusal(error)


def _report_refusal(error: OSError) -> int:
    """Reports that the kernel refused to read or write a file."""
    from wirelab.run.journal import FULL

    where = error.filename or "standard output or a file"
    message = f"wirelab: {where} cannot be read or written: {error.strerror}"
    err.print(fold(message, err.width), style="red")
    _silence(sys.stdout)
    return EXIT_STORAGE if error.errno in FULL else EXIT_LAB


def _silence(*streams: TextIO) -> None:
    """Discards buffered output that nobody reads, so that Python does not print an error for it
    at exit."""
    for stream in streams:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
