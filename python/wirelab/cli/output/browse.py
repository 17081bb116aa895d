"""Output of ``wirelab browse``."""

from __future__ import annotations

import os
from pathlib import Path

from wirelab.browse import pages, tree
from wirelab.browse.server import listen, serve
from wirelab.browse.site import Site
from wirelab.browse.summary import Reader
from wirelab.cli.error_handling import err, out
from wirelab.errors import EXIT_OK, UsageError
from wirelab.process.interruption import Interruption
from wirelab.run.directory import write_whole

NICENESS = 10
"""The server gives way to a run that is measured on the same machine."""


def run(directory: Path, port: int, once: Path | None) -> int:
    """Returns the exit code. Raises :class:`WirelabError`."""
    root = _root(directory)
    if once is not None:
        return _write(root, once)
    with Interruption() as interruption:
        server = listen(Site(root), port)
        os.nice(NICENESS)
        out.print(server.url)
        err.print(f"serving the runs in {directory}; Ctrl-C ends it")
        serve(server, interruption)
    return EXIT_OK


def _root(directory: Path) -> Path:
    """The folder without symbolic links. Raises :class:`UsageError`."""
    try:
        root = directory.resolve(strict=True)
        with os.scandir(root):
            return root
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(
            f"{directory} cannot be read: {reason}", "give a folder that contains run directories"
        ) from error


def _write(root: Path, file: Path) -> int:
    found = tree.scan(root)
    rows = pages.lines(found, Reader().all(found), file.absolute())
    try:
        write_whole(file, pages.index_file(found, rows))
    except OSError as error:
        raise UsageError(
            f"--once {file} cannot be written: {error.strerror}",
            "give a file in a folder that exists and can be written",
        ) from error
    out.print(f"list of runs: {file}")
    return EXIT_OK
