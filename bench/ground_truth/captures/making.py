"""Makes a corpus: for each aim, captures until enough of them show what they were made for."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.ground_truth.captures import corpus, places
from bench.ground_truth.captures.capturing import CASE, LINK_LOG, Maker
from bench.ground_truth.captures.places import NetworkPath
from bench.ground_truth.captures.recipes import Recipe, recipe
from wirelab.errors import TrialFailed
from wirelab.process.interruption import Interruption

TRIES = 2
"""Captures that are made at most, per capture that is asked for."""

Say = Callable[[str], None]


class Making:
    """One corpus in the making. Use as a context manager: it keeps a link between captures."""

    def __init__(self, out: Path, maker: Maker, interruption: Interruption, say: Say) -> None:
        self._out = out
        self._maker = maker
        self._interruption = interruption
        self._say = say
        self._open: NetworkPath | None = None
        self._held = ExitStack()

    def __enter__(self) -> Making:
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def make(self, aim: str, count: int, only: frozenset[str]) -> int:
        """Captures for one aim, at the named places or at all; returns how many contain it.
        Captures that are there already are kept."""
        chosen = list(_choose_recipes(aim, count, only))
        good = 0
        for batch in (chosen[:count], chosen[count:]):
            # By place, so that a link is set up once for many captures.
            for one in sorted(batch, key=lambda each: (each.place, each.drops != ())):
                if good >= count:
                    break
                good += self._bears(one)
        return good

    def _bears(self, one: Recipe) -> bool:
        self._interruption.check()
        folder = self._out / one.name
        if not (folder / CASE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                self._capture(one, folder)
            except TrialFailed as error:
                self._say(f"{one.name}: not made: {error}")
                return False
        return corpus.bears(corpus.read(folder))

    def _capture(self, one: Recipe, folder: Path) -> None:
        if not one.drops:
            corpus.keep(folder, self._maker.make(one, self._place(one.place), folder), [])
            return
        log = folder / LINK_LOG
        with places.open_place(one.place, one.drops, log, self._interruption) as place:
            case = self._maker.make(one, place, folder)
            corpus.keep(folder, case, place.dropped())

    def _place(self, name: str) -> NetworkPath:
        """The place without scripted drops; the one before it is closed."""
        if self._open is None or self._open.name != name:
            self._held.close()
            self._open = None
            log = self._out / f"link-{name}.log"
            self._open = self._held.enter_context(
                places.open_place(name, (), log, self._interruption)
            )
        return self._open


def _choose_recipes(aim: str, count: int, only: frozenset[str]) -> Iterator[Recipe]:
    """The recipes of an aim, at the places that may be used."""
    found = 0
    for index in range(100 * count):
        one = recipe(aim, index)
        if not only or one.place in only:
            yield one
            found += 1
        if found == TRIES * count or (index >= 12 * count and not found):
            return


def is_impossible(aim: str, only: frozenset[str]) -> bool:
    """No recipe of that aim is for any of the places."""
    return next(_choose_recipes(aim, 5, only), None) is None
