"""Writes the folder of ``wirelab survey init``."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from wirelab.errors import UsageError
from wirelab.survey.questionnaire import KIT, Questionnaire, Task, questionnaire

PARTICIPANTS_MAX = 1_000
CODE_LETTERS = "bcdfghjkmnpqrstvwxz"
"""Letters of the codes for solved parts: no vowels, so no words, and none that looks like a
digit."""
CODE_LENGTH = 6
TEMPLATES = ("tasks.yaml", "index.html.j2")
"""Files of the package that are not copied into a kit."""


@dataclass(frozen=True)
class Kit:
    """Values that differ between kits."""

    id: str
    """Key under which a browser stores the answers."""
    orders: tuple[str, ...]
    """First task of participant 1, 2, …"""
    codes: dict[str, tuple[str, str]]
    """By task: code that the checking service shows when a part is solved."""

    @classmethod
    def draw(cls, participants: int, seed: int) -> Kit:
        """Deterministic for the same arguments.

        The order is drawn in blocks of two participants, one with each order (permuted block
        randomization, Matts and Lachin 1988). After any even number of participants each order was
        therefore used equally often. Raises :class:`UsageError`.
        """
        if not 1 <= participants <= PARTICIPANTS_MAX:
            raise UsageError(
                f"--participants: {participants} is not a number from 1 to {PARTICIPANTS_MAX}"
            )
        names = questionnaire().names
        rng = random.Random(seed)
        orders: list[str] = []
        while len(orders) < participants:
            orders += rng.sample(names, len(names))
        codes = {name: (_code(rng), _code(rng)) for name in names}
        return cls(_code(rng), tuple(orders[:participants]), codes)


def write_kit(folder: Path, kit: Kit) -> None:
    """Writes all files of a kit atomically: ``folder`` appears when it is complete.

    Raises :class:`UsageError` if ``folder`` is not empty, and :class:`OSError`.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty directory; give another one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = folder.with_name(f".{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        shutil.copytree(KIT, unfinished, ignore=shutil.ignore_patterns(*TEMPLATES))
        asked = questionnaire()
        for task in asked.tasks:
            _write_task(unfinished / task.folder, task, kit)
        (unfinished / "index.html").write_text(_page(asked, kit), encoding="utf-8")
        (unfinished / "orders.csv").write_text(_orders(kit), encoding="utf-8")
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _write_task(folder: Path, task: Task, kit: Kit) -> None:
    """Writes the steps of a task as text, and its codes into the checking service."""
    checking = folder / "main.go"
    source = checking.read_text(encoding="utf-8")
    for place, code in enumerate(kit.codes[task.name], start=1):
        source = source.replace(f"CODE-{place}", code)
    checking.write_text(source, encoding="utf-8")
    lines = [f"# {task.title}"]
    for place, part in enumerate(task.parts, start=1):
        lines += ["", f"## Part {place}: {part.title}"]
        lines += [f"{number}. {step}" for number, step in enumerate(part.steps, start=1)]
    (folder / "TASK.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _page(asked: Questionnaire, kit: Kit) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(KIT),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    shown: dict[str, object] = {**asdict(asked), **asdict(kit)}
    # JSON writes a tuple as a list; the filter escapes everything that could end the script.
    return environment.get_template("index.html.j2").render(kit=json.loads(json.dumps(shown)))


def _orders(kit: Kit) -> str:
    lines = [f"{number},{first}" for number, first in enumerate(kit.orders, start=1)]
    return "\n".join(["participant,first", *lines]) + "\n"


def _code(rng: random.Random) -> str:
    return "".join(rng.choices(CODE_LETTERS, k=CODE_LENGTH))
