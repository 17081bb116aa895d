"""A .proto with its imports, or a descriptor set, as copies for the engine.

The engine follows symbolic links and waits for pipes. It gets copies of the regular files beneath
the folders of the import alone, so it reads nothing else. An import that is not recognized here is
not copied, and the engine reports it as missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wirelab.errors import ImportLimit, UsageError
from wirelab.imports.beneath import read_beneath, read_named

BYTES_MAX = 64 * 1024 * 1024
"""Of all files together."""
OF_ENGINE = "google/protobuf/"
"""Files that the engine has."""
_REMEDY = "name a .proto, or a descriptor set with its imports"
_FOLDERS = "import a file by its path from the .proto's folder or from one of --import DIR"
_TOKEN = re.compile(
    rb"//[^\n]*|/\*.*?\*/"
    rb"|\bimport\s+(?:public\s+|weak\s+)?(?:\"([^\"\\\n]+)\"|'([^'\\\n]+)')\s*;"
    rb"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'",
    re.DOTALL,
)
"""Comments and strings, in which an import is text, and imports."""


@dataclass(frozen=True)
class Copies:
    """Where the copies are."""

    file: Path
    folders: list[Path]
    originals: list[Path]
    """The folders that they were copied from, in the same order."""

    def name_originals(self, message: str) -> str:
        """A message of the engine with the files of the user in place of their copies."""
        for folder, original in zip(self.folders, self.originals, strict=True):
            message = message.replace(f"{folder}/", "" if original == Path() else f"{original}/")
        return message


def copy_files(source: str, include: tuple[str, ...], into: Path) -> Copies:
    """Copies what the engine needs. Raises :class:`UsageError`."""
    originals = [*map(Path, include), Path(source).parent]
    folders = [into / str(number) for number in range(len(originals))]
    try:
        content = read_named(Path(source), BYTES_MAX)
    except FileNotFoundError:
        raise UsageError(f"there is no file {source}", _REMEDY) from None
    except OSError as error:
        raise UsageError(f"{source}: {error.strerror or error}", _REMEDY) from None
    copies = Copies(_place(source, originals, folders), folders, originals)
    for folder in folders:
        folder.mkdir()
    _write(copies.file, content)
    if copies.file.suffix == ".proto":
        _copy_imports(source, content, copies)
    return copies


def _place(source: str, originals: list[Path], folders: list[Path]) -> Path:
    """Of the copy: at the same path from the first folder that contains the file."""
    path = Path(source).parent.resolve() / Path(source).name
    for original, folder in zip(originals, folders, strict=True):
        if path.is_relative_to(original.resolve()):
            return folder / path.relative_to(original.resolve())
    return folders[-1] / path.name


def _copy_imports(source: str, content: bytes, copies: Copies) -> None:
    left = BYTES_MAX - len(content)
    waiting, seen = [(source, content)], set[str]()
    while waiting:
        file, text = waiting.pop()
        for name, line in _imports(text):
            if name in seen:
                continue
            seen.add(name)
            found = _read(source, name, copies)
            if found is None and name.startswith(OF_ENGINE):
                continue
            if found is None:
                raise UsageError(f"{file}: line {line}: there is no file {name}", _FOLDERS)
            left -= len(found)
            if left < 0:
                raise ImportLimit(
                    f"{source}: it imports more than {BYTES_MAX:,} B (limit bytes)",
                    "name a smaller .proto, or a descriptor set",
                )
            waiting.append((name, found))


def _imports(content: bytes) -> Iterator[tuple[str, int]]:
    """Names of files, with the line of each."""
    line, counted = 1, 0
    for found in _TOKEN.finditer(content):
        if name := found[1] or found[2]:
            line += content.count(b"\n", counted, found.start())
            counted = found.start()
            yield name.decode(errors="replace"), line


def _read(source: str, name: str, copies: Copies) -> bytes | None:
    """The first file of that name, which is copied; None if it is in no folder. Raises
    :class:`UsageError`."""
    for original, folder in zip(copies.originals, copies.folders, strict=True):
        try:
            if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
                raise UsageError(f"it leads outside {original}", _FOLDERS)
            content = read_beneath(original, name)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except UsageError as error:
            raise UsageError(f"{source}: import {name}: {error.message}", _FOLDERS) from None
        except (OSError, ValueError) as error:
            raise UsageError(f"{source}: import {name}: {error}", "correct the import") from None
        _write(folder / name, content)
        return content
    return None


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
