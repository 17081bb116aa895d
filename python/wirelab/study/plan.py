"""What a reproduction runs: the experiment of every part, and how long it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from wirelab.errors import UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.model import Experiment
from wirelab.experiment.scaling import Windows, raise_repeats, replace_keys, scale_text
from wirelab.format.units import format_minutes, format_seconds
from wirelab.stack import manifests
from wirelab.stack.suggestions import did_you_mean
from wirelab.study.catalogue import Found
from wirelab.study.coverage import coverage


@dataclass(frozen=True)
class Plan:
    """The parts of a study, scaled."""

    found: Found
    scale: float
    is_quick: bool
    is_default: bool
    """At the study's own scale, with the parts that it runs by itself."""
    texts: Mapping[str, str]
    """The experiment file of each part."""
    experiments: Mapping[str, Experiment]
    chosen: tuple[str, ...] = ()
    """The parts that were named, in the study's order; empty: those that it runs by itself."""

    def announcement(self) -> Iterator[str]:
        """How long it takes, where this is known, and what a first look cannot judge."""
        study = self.found.study
        known = study.takes.default if self.is_default else None
        seconds = study.takes.quick if self.is_quick else known
        if seconds is not None:
            word = " --quick" if self.is_quick else ""
            yield (
                f"{study.name}{word} takes about {format_minutes(seconds)} on two cores, and "
                "longer where a service must first be built or verified."
            )
        if self.chosen:
            length = format_minutes(sum(self.lengths_s.values()))
            yield (
                f"{', '.join(self.texts)}: planned for about {length}, and longer where a service "
                "must first be built or verified."
            )
        for part, seconds in self._timed_s.items():
            yield (
                f"{part}: every cell has a window of {format_seconds(seconds)}, in which services "
                "take turns; --scale 1 makes the published calls."
            )
        if self.is_quick:
            yield from coverage(study, self.experiments, manifests.load()).sentences()

    @property
    def _timed_s(self) -> dict[str, float]:
        """The windows that time closes in place of the number of calls in their files, seconds."""
        named = () if self.is_quick else self.found.study.timed
        lengths = {
            part: one.window.duration for part, one in self.experiments.items() if part in named
        }
        return {part: length for part, length in lengths.items() if length is not None}

    @cached_property
    def lengths_s(self) -> dict[str, float]:
        """The planned length of each part's trials, in seconds."""
        catalogue = manifests.load()
        return {
            part: sum(
                planning.seconds(experiment, trial)
                for trial in planning.schedule(experiment, catalogue).trials
            )
            for part, experiment in self.experiments.items()
        }


def plan(
    found: Found,
    scale: float | None,
    *,
    quick: bool,
    repeats: Mapping[str, int] | None = None,
    chosen: Sequence[str] = (),
) -> Plan:
    """The parts at a share of the published calls, those of a first look, or the chosen ones.
    ``repeats`` of a part are at least those of its file. Raises :class:`UsageError` for a scale
    that is not a share, and for a first look or a part that the study does not have."""
    study = found.study
    fraction = study.scale if scale is None else scale
    if not 0 < fraction <= 1:
        raise UsageError(f"--scale {fraction:g} is not a share", "give more than 0 and at most 1")
    if quick and scale is not None:
        raise UsageError("--quick and --scale exclude each other", "give one of them")
    if quick and chosen:
        raise UsageError("--quick and --part exclude each other", "give one of them")
    for part in chosen:
        if part not in study.every_part:
            remedy = did_you_mean(part, study.every_part)
            raise UsageError(f"{study.name} has no part {part!r}", remedy)
    if quick and not study.quick:
        raise UsageError(f"{study.name} has no first look", "leave out --quick")
    shares = study.scales if scale is None else {}
    texts = {
        part: raise_repeats(
            _text(found, part, shares.get(part, fraction), quick), (repeats or {}).get(part, 0)
        )
        for part in parts(found, quick=quick, chosen=chosen)
    }
    named = tuple(texts) if chosen else ()
    experiments = {
        part: experiment_file.parse(text, str(found.part(part))) for part, text in texts.items()
    }
    is_default = scale is None and not named
    return Plan(found, fraction, quick, is_default, texts, experiments, named)


def parts(found: Found, *, quick: bool, chosen: Sequence[str] = ()) -> tuple[str, ...]:
    """What is run, in the study's order."""
    study = found.study
    if chosen:
        return tuple(part for part in study.every_part if part in chosen)
    return tuple(part for part in study.parts if not quick or part in study.quick)


def _text(found: Found, part: str, share: float, quick: bool) -> str:
    """The experiment file that is run for a part."""
    text = found.part(part).read_text(encoding="utf-8")
    study = found.study
    name = f"{study.name}/{part}"
    if quick:
        return replace_keys(text, name, study.quick[part])
    windows = Windows(study.scale, study.window_max, is_timed=part in study.timed)
    return scale_text(text, name, share, windows)
