"""Templates of generated projects: files in ``data/generate/LANGUAGE``, copied or rendered."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

TEMPLATES = Path(__file__).parents[1] / "data" / "generate"
SUFFIX = ".j2"
"""Of files that are rendered."""


@dataclass(frozen=True)
class Templates:
    """The templates of one language."""

    language: str
    filters: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Filters of the templates, by name."""

    @property
    def folder(self) -> Path:
        """Where they are."""
        return TEMPLATES / self.language

    def write_tree(self, into: Path, context: Mapping[str, object], apart: frozenset[str]) -> None:
        """Writes every file, except those in ``apart``."""
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if not path.is_file() or name in apart:
                continue
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix == SUFFIX:
                self.write(name, target.with_suffix(""), context)
            else:
                shutil.copyfile(path, target)

    def write(self, name: str, target: Path, context: Mapping[str, object]) -> None:
        """Writes one rendered template."""
        environment = Environment(
            loader=FileSystemLoader(self.folder),
            undefined=StrictUndefined,
            autoescape=False,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update(self.filters)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(environment.get_template(name).render(context), encoding="utf-8")
