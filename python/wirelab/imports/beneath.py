"""Files that a document names: regular files beneath the document's folder, and no others.

The kernel resolves each component alone, from an open folder, and follows no symbolic link
(``O_NOFOLLOW``). Links are followed here, so that each can be checked. This has the effect of
``RESOLVE_BENEATH`` of openat2(2), which Python does not offer and containers may forbid. A link
that is replaced during the check gains nothing.
"""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import UsageError
from wirelab.format.untrusted import FLAGS, TooLarge, read_open

BYTES_MAX = 16 * 1024 * 1024
"""Of a file that a document names."""
CONTENT_BYTES_MAX = 64 * 1024 * 1024
"""Of a file that is sent."""
LINKS_MAX = 40
"""Symbolic links on the way to one file, as in Linux (path_resolution(7))."""


def read_beneath(folder: Path, relative: str, bytes_max: int = BYTES_MAX) -> bytes:
    """The file at a path from the folder, which leaves it nowhere. Raises :class:`UsageError`
    for one that does, or that is not a regular file, and :class:`OSError`."""
    with ExitStack() as stack:
        return _read(_open(_Walk(folder, stack), relative), relative, bytes_max)


def read_named(path: Path, bytes_max: int) -> bytes:
    """A file that the user names, wherever it is. Raises :class:`UsageError` for one that is not
    a regular file, and :class:`OSError`."""
    return _read(os.open(path, FLAGS), str(path), bytes_max)


@dataclass(frozen=True)
class ContentFiles:
    """Files that a command or a collection sends."""

    folder: Path
    is_any: bool = False
    """Whether they may be elsewhere (``--any-file``)."""

    def read(self, name: str) -> bytes:
        """Raises :class:`UsageError`."""
        try:
            if self.is_any:
                return read_named(self.folder / name, CONTENT_BYTES_MAX)
            return read_beneath(self.folder, self._relative(name), CONTENT_BYTES_MAX)
        except UsageError as error:
            raise UsageError(
                f"{name}: {error.message}", f"{error.remedy}, or give --any-file"
            ) from None
        except (OSError, ValueError) as error:  # the latter of a null character
            reason = getattr(error, "strerror", None) or error
            raise UsageError(f"{name}: {reason}", "name a file that can be read") from None

    def _relative(self, name: str) -> str:
        """A path from the folder; an absolute one may lead into it."""
        inside = Path(name)
        folder = self.folder.resolve()
        return str(inside.relative_to(folder)) if inside.is_relative_to(folder) else name


def _read(descriptor: int, name: str, bytes_max: int) -> bytes:
    try:
        return read_open(descriptor, name, bytes_max)
    except TooLarge:
        raise UsageError(f"{name} is larger than {bytes_max:,} B", "name a smaller file") from None
    except ValueError as error:
        raise UsageError(str(error), "name a file that is stored on a disk") from None


class _Walk:
    """Open folders, from the first to the current one."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._open: list[int] = []
        self._enter(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))

    @property
    def at(self) -> int:
        """The current folder."""
        return self._open[-1]

    def leave(self) -> None:
        """Goes to the parent. Raises :class:`UsageError` at the first folder."""
        if len(self._open) == 1:
            raise self.outside()
        self._open.pop()

    def step(self, name: str) -> None:
        """Goes to a folder within. Raises :class:`OSError`."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        self._enter(os.open(name, flags, dir_fd=self.at))

    def outside(self) -> UsageError:
        """The refusal of a path that leaves the folder."""
        return UsageError(
            f"it leads outside {self._folder}", "copy the file into that folder, and refer to it"
        )

    def _enter(self, descriptor: int) -> None:
        self._stack.callback(os.close, descriptor)
        self._open.append(descriptor)


def _open(walk: _Walk, relative: str) -> int:
    """A descriptor of the file. Raises :class:`UsageError` and :class:`OSError`."""
    parts, links = _parts(relative, walk), 0
    while parts:
        name = parts.pop()
        if name == "..":
            walk.leave()
        elif (target := _link(name, walk.at)) is not None:
            links += 1
            if links > LINKS_MAX:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            parts += _parts(target, walk)
        elif parts:
            walk.step(name)
        else:
            return os.open(name, FLAGS | os.O_NOFOLLOW, dir_fd=walk.at)
    raise UsageError(f"{relative or 'it'} is a folder", "name a file in it")


def _parts(path: str, walk: _Walk) -> list[str]:
    """The components, the first one last. Raises :class:`UsageError` for an absolute path."""
    if path.startswith("/"):
        raise walk.outside()
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def _link(name: str, folder: int) -> str | None:
    """The target of a symbolic link; None of what is not a link."""
    with suppress(OSError):
        return os.readlink(name, dir_fd=folder)
    return None
