"""Runs ``wirelab wrap``, prints its result and keeps its files."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, get_args

from wirelab import wrap as wrapping
from wirelab.cli.error_handling import err, fold, out
from wirelab.cli.options.wrap import CaptureOptions, OutputOptions, ServiceOptions
from wirelab.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    EXIT_STORAGE,
    StorageError,
    UsageError,
)
from wirelab.format.console import Ticker
from wirelab.format.units import parse_seconds
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.run.directory import make_private, write_whole
from wirelab.secrets import given
from wirelab.stack.link_names import ProfileName
from wirelab.stack.operations import CONTRACTS
from wirelab.stack.reference import Stack
from wirelab.stack.suggestions import did_you_mean
from wirelab.trial import secrets
from wirelab.wrap import Order
from wirelab.wrap.result import Result

RECORD = "wrap.json"
PAGE = "report.html"


def order(command: Sequence[str], service: ServiceOptions, capture: CaptureOptions) -> Order:
    """What to measure. Raises :class:`UsageError`."""
    return Order(
        command=tuple(command),
        serve=None if service.serve is None else Stack.parse(service.serve),
        contract=_require_known("--contract", service.contract, CONTRACTS),
        hello_bytes=service.hello_bytes,
        link=_require_known("--link", service.link, get_args(ProfileName)),
        interface=capture.interface,
        port=capture.port,
        seconds_max=None if capture.timeout is None else _seconds(capture.timeout),
        keylog=not capture.no_keylog,
        ready_timeout_s=service.ready_timeout_s,
    )


def run(order: Order, output: OutputOptions) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    _accept(output.folder)
    _accept_page(output.report)
    sink: BinaryIO = sys.stderr.buffer if output.as_json else sys.stdout.buffer
    known = given.of_command(order.command)
    with known.hide_in_errors(), Interruption() as interruption, Scratch() as scratch:
        measured = wrapping.wrap(
            order,
            scratch.folder,
            out=sink,
            err=sys.stderr.buffer,
            note=lambda text: err.print(fold(text, err.width)),
            interruption=interruption,
            on_build=Ticker(err).show,
        )
        result = wrapping.result(measured)
        keeps = output.keep_capture or interruption.requested or measured.stopped is not None
        unwritten: list[StorageError] = []
        with _defer_storage_errors(unwritten):
            kept = _keep(scratch.folder, output.folder, result, capture=keeps)
            result = replace(result, kept=kept)
        with _defer_storage_errors(unwritten):
            result = replace(result, page=_write_page(output.report, result))
    if output.as_json:
        print(json.dumps(result.to_json(), indent=1))
    else:
        _show(result)
    if unwritten:
        raise unwritten[0]
    return _exit_code(result)


@contextmanager
def _defer_storage_errors(unwritten: list[StorageError]) -> Iterator[None]:
    """Collects the error of a file that could not be written, until the result is printed."""
    try:
        yield
    except StorageError as error:
        unwritten.append(error)


def _exit_code(result: Result) -> int:
    tool = result.tool
    if tool.how == "interrupted":
        return EXIT_INTERRUPTED
    if tool.how == "stopped":
        return EXIT_STORAGE
    failed = tool.how != "ended" or tool.exit_code != 0
    return EXIT_FAILED if failed or result.verdict.trusted is False else EXIT_OK


def _show(result: Result) -> None:
    out.print()
    known = result.measured.known_secrets
    for line in wrapping.lines(result):
        out.print(known.hide(line))
    if result.kept:
        out.print(f"kept: {result.kept}")
    if result.page:
        out.print(f"report: {result.page}")


def _accept(folder: Path | None) -> None:
    if folder is not None and folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"--out {folder} exists and is not an empty folder", "give a new or empty folder"
        )


def _accept_page(file: Path | None) -> None:
    if file is None:
        return
    if file.is_dir():
        raise UsageError(f"--report {file} is a folder", "give a file in it, such as report.html")
    if not file.parent.is_dir():
        raise UsageError(
            f"--report {file}: the folder {file.parent} does not exist",
            "create it, or give another path",
        )


def _write_page(file: Path | None, result: Result) -> Path | None:
    """Writes the page and returns its path; None if no page was requested."""
    if file is None:
        return None
    from wirelab.wrap import page

    try:
        write_whole(file, page.html(result))
    except OSError as error:
        raise StorageError(
            f"--report {file} cannot be written: {error.strerror}", "give another file"
        ) from error
    return file


def _keep(source: Path, folder: Path | None, result: Result, *, capture: bool) -> Path | None:
    """Copies the files to keep; returns their folder, or None if there are none."""
    if folder is None and not capture:
        return None
    from wirelab.wrap import page

    where = folder or Path(time.strftime("wirelab-wrap-%Y%m%d-%H%M%S"))
    names = ["tool-stdout.txt", "tool-stderr.txt", *(["capture.pcapng"] if capture else [])]
    try:
        make_private(where)
        (where / RECORD).write_text(json.dumps(result.to_json(), indent=1) + "\n", encoding="utf-8")
        write_whole(where / PAGE, page.html(result))
        if capture and result.measured.keylog is not None:
            secrets.embed(source / "capture.pcapng", result.measured.keylog)
        for name in names:
            shutil.move(source / name, where / name)
        result.measured.known_secrets.hide_in_folder(where)
    except OSError as error:
        raise StorageError(
            f"{where} cannot be written: {error.strerror}", "give another folder with --out"
        ) from error
    return where


def _require_known(option: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise UsageError(f"{option} {value} is unknown", did_you_mean(value, known))
    return value


def _seconds(text: str) -> float:
    seconds = parse_seconds(text)
    if seconds <= 0:
        raise UsageError(f"--timeout {text} is not above 0", "give a time such as 30s")
    return seconds
