"""Pages of studies from their kept runs, and figures of studies in other pages.

``python -m tools.study_page`` writes the generated parts of all pages again; ``--keep FOLDER``
first keeps a finished reproduction in ``docs/runs/STUDY``. A page has these parts between marks, of
which the first is in every page:

- ``<!-- run of STUDY -->``: the run, or that it is to be kept;
- ``<!-- findings of STUDY -->``: every finding with its verdict;
- ``<!-- details of STUDY -->``: winners, ladders, published and measured figures.

``<!-- STUDY: rate grpc/http bytes="14 B" users=10 -->…<!-- end -->`` is a figure within a sentence,
of one arm or of one arm over another, in the study's first part or in ``part=NAME``; ``rung LADDER
RUNG`` is the effect of a rung, ``whole LADDER`` that of all, ``counts`` the verdicts, ``trials``
their number.
"""

from __future__ import annotations

import argparse
import re
import shlex
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from tools import marked_part
from wirelab import checkout
from wirelab.cli.output.run import draw
from wirelab.errors import UsageError
from wirelab.format.counting import format_count
from wirelab.format.numbers import digits, format_range, percent
from wirelab.records.trial import Trial
from wirelab.report.section import Section, Table
from wirelab.run import directory, keeping
from wirelab.run.manifest import Manifest
from wirelab.statistics.interval import Interval
from wirelab.study import catalogue as studies
from wirelab.study import claims, reproduction, sections
from wirelab.study import manifest as study_manifest
from wirelab.study.evidence import Evidence
from wirelab.study.model import Claim
from wirelab.study.reproduction import Reproduction

PAGES = Path("docs/studies")
RUNS = Path("docs/runs")
IMAGES = Path("docs/images")
FURTHER = ("README.md", "docs/README.md", "docs/questions/*.md")
"""Other pages with figures of studies."""
KEPT_BYTES_MAX = 6_000_000
"""All kept runs together."""
NUMBER = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)*")
STEAL_MAX = 0.02
"""Share of a window that the hypervisor may take before the page marks the trial."""
PARTS = ("run", "findings", "details")
FIGURE = re.compile(rf"<!-- ({'|'.join(studies.names())}): ([^>]+?) -->([^<]*)<!-- end -->")


def main(words: Sequence[str] | None = None) -> None:
    """Keeps a run where one is named, and writes every page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="a finished reproduction")
    options = parser.parse_args(words)
    root = checkout.root()
    if options.keep is not None:
        print(f"kept: {keep(options.keep, root)}")
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        page.write_text(write_parts(text, root), encoding="utf-8")


def pages(root: Path) -> list[Path]:
    """Every page that may have generated parts."""
    found = [*(root / PAGES).glob("*.md")]
    return sorted([*found, *(page for pattern in FURTHER for page in root.glob(pattern))])


def keep(folder: Path, root: Path) -> Path:
    """Copies a reproduction without the folders of its trials. Raises :class:`UsageError` for one
    that is not finished, is a first look or of chosen parts, is of another CPU model than the kept
    ones, or makes the kept runs too large; the run that was kept before then stays."""
    made = reproduction.judge_folder(folder)
    name = made.found.study.name
    if made.is_quick or made.chosen or not made.is_finished:
        part = "a first look" if made.is_quick else "of chosen parts" if made.chosen else ""
        reason = part or made.incomplete[0]
        raise UsageError(f"{folder} is not kept: {reason}", "measure the whole study first")
    models = {manifest.cpu for manifest in _manifests(made)}
    others = {
        m.cpu for other in studies.names() if other != name for m in read_manifests(other, root)
    }
    if len(models | others) > 1:
        raise UsageError(
            f"{folder} is not kept: CPU models {', '.join(sorted(models | others))}",
            "measure all studies on machines with one CPU model",
        )
    kept = root / RUNS / name
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as holder:
        staged = Path(holder) / name
        for part in made.runs:
            keeping.keep(folder / part, staged / part)
        shutil.copyfile(folder / study_manifest.NAME, staged / study_manifest.NAME)
        size = _count_bytes(kept.parent) - _count_bytes(kept)
        if size > KEPT_BYTES_MAX:
            reason = f"the kept runs would have {size:,} bytes"
            raise UsageError(reason, f"keep {KEPT_BYTES_MAX:,} at most")
        shutil.rmtree(kept, ignore_errors=True)
        staged.rename(kept)
    picture = root / IMAGES / f"{name}.svg"
    if picture.exists():
        draw(kept / made.found.study.parts[0], picture)
    load.cache_clear()
    return kept


def _count_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@lru_cache
def load(name: str, root: Path) -> Reproduction | None:
    """The kept run of a study, judged; None where there is none."""
    kept = root / RUNS / name
    return reproduction.judge_folder(kept) if study_manifest.is_reproduction(kept) else None


def write_parts(page: str, root: Path) -> str:
    """The page with its parts and figures written again, where the run is kept; where it is not,
    with the part that states this. Raises :class:`ValueError` for a mark without its end, and
    :class:`UsageError` for a figure that the study does not have."""
    for name in studies.names():
        made = load(name, root)
        for part in PARTS:
            mark = f"<!-- {part} of {name} -->"
            if mark in page and (made is not None or part == "run"):
                lines = _part(part, name, made)
                page = marked_part.replace(page, mark, f"<!-- end of {part} of {name} -->", lines)

    def figure(found: re.Match[str]) -> str:
        made = load(found[1], root)
        text = found[3] if made is None else value(made, shlex.split(found[2]))
        return f"<!-- {found[1]}: {found[2]} -->{text}<!-- end -->"

    return FIGURE.sub(figure, page)


def _part(part: str, name: str, made: Reproduction | None) -> Iterator[str]:
    if made is None:
        yield (
            f"**Run to be kept.** The measured figures of this page come from a run that is not in "
            f"the repository, and today's file may judge other findings. "
            f"`make studies STUDIES={name}` makes a run, and `python -m tools.study_page --keep "
            f"runs/studies/{name}` keeps it and writes the page."
        )
    elif part == "run":
        yield from run_lines(made)
    else:
        every = sections.sections(made)
        chosen = every[1:2] if part == "findings" else every[2:]
        for section in chosen:
            yield from markdown(section, 3)


def unknown_numbers(page: str, made: Reproduction) -> list[str]:
    """Numbers written by hand that are neither in the page's generated parts nor in the study's
    files. Code and the targets of links do not count."""
    name = made.found.study.name
    generated = [line for part in PARTS for line in _part(part, name, made)]
    files = [path for path in made.found.folder.iterdir() if path.suffix in (".yaml", ".md")]
    sources = [*generated, *(path.read_text(encoding="utf-8") for path in files)]
    sources += [" ".join(map(str, (row.value, *row.load.values()))) for row in made.found.published]
    by_hand = FIGURE.sub("", page)
    for part in PARTS:
        by_hand = re.sub(
            rf"<!-- {part} of {name} -->.*?<!-- end of {part} of {name} -->",
            "",
            by_hand,
            flags=re.DOTALL,
        )
    by_hand = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", by_hand, flags=re.DOTALL)
    return sorted(numbers(by_hand) - numbers(" ".join(sources)))


def numbers(text: str) -> set[str]:
    """The numbers in a text, without the commas between thousands."""
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def run_lines(made: Reproduction) -> Iterator[str]:
    """The machine, the days, the trials and what was noted, with links to the kept files."""
    every, name = _trials(made), made.found.study.name
    days = sorted({trial.started[:10] for trial in every if trial.started}) or ["an unknown day"]
    machine = _manifests(made)[0].machine
    yield (
        f"{len(every):,} trials of {' to '.join(dict.fromkeys((days[0], days[-1])))} on "
        f"{machine['cpu']}, {machine['cores']} cores, Linux {machine['kernel']}, at scale "
        f"{made.scale:g}. {format_count(len(made.failed), 'trial')} failed. "
        f"{format_count(sum(map(is_stolen_from, every)), 'trial')} lost more than "
        f"{percent(STEAL_MAX)} of the window to the hypervisor (steal). {sections.count(made)}"
    )
    yield from ("", "| part | trials of a cell | cells | kept run |", "|---|---|---|---|")
    for part, run in made.runs.items():
        cells = Counter((trial.point.stack, repr(trial.point)) for trial in run.trials)
        repeats = " to ".join(map(str, dict.fromkeys((min(cells.values()), max(cells.values())))))
        links = ", ".join(f"[{file}](../runs/{name}/{part}/{file})" for file in keeping.FILES)
        yield f"| `{part}` | {repeats} | {len(cells)} | {links} |"
    yield from ("", *(f"- {note}" for note in made.notes))


def is_stolen_from(trial: Trial) -> bool:
    """True where the hypervisor took more than :data:`STEAL_MAX` of a trial's window."""
    stolen, window = trial.engine.steal_s, trial.whole_s
    return bool(stolen and window and stolen / window > STEAL_MAX)


def value(made: Reproduction, words: Sequence[str]) -> str:
    """A figure within a sentence. Raises :class:`UsageError` for a name that the study lacks."""
    kind, *names = words
    if kind == "counts":
        return sections.count(made).removesuffix(".")
    if kind == "trials":
        return f"{len(_trials(made)):,}"
    level = dict(word.split("=", 1) for word in names if "=" in word)
    named = [word for word in names if "=" not in word]
    if kind in ("rung", "whole"):
        return _effect(made, kind, named, level)
    over, _, under = named[0].partition("/")
    study = made.found.study
    part = level.pop("part", study.parts[0])
    claim = Claim.model_validate(
        {
            "id": "figure",
            "claim": "figure",
            "source": "figure",
            "part": part,
            "figure": kind,
            "over": [over],
            "under": [under] if under else [],
            "where": {key: _number(text) for key, text in level.items()},
            "expect": {"above": 1},
        }
    )
    finding = claim.finding(study.arms, study.threshold)
    found = claims.evaluate_level(Evidence.of(made.runs[part].trials), finding, {})
    if found.interval is None:
        return claims.NOT_MEASURED
    if under:
        return ratio(found.interval, study.threshold)
    return format_range(found.interval, finding.unit)


def _number(text: str) -> object:
    """A count or a rate as a number; sizes and names stay text."""
    try:
        return int(text)
    except ValueError:
        return text


def _effect(made: Reproduction, kind: str, named: Sequence[str], level: dict[str, str]) -> str:
    """The effect of a rung, or of the whole ladder."""
    for explanation in made.explanations:
        start = explanation.ladder.start.change({k: _number(v) for k, v in level.items()})
        ladder = explanation.ladder.id.partition(",")[0]
        if ladder != named[0] or start != explanation.ladder.start:
            continue
        steps = {step.rung.id: step.effect for step in explanation.climbed}
        if kind == "rung" and named[1] not in steps:
            break
        effect = explanation.whole if kind == "whole" else steps[named[1]]
        if effect is None:
            return claims.NOT_MEASURED
        return ratio(effect.ratio, explanation.ladder.threshold)
    raise UsageError(f"no rung {' '.join(named)} at {level}", "name a ladder and its rung")


def ratio(interval: Interval, threshold: float) -> str:
    """``0.75 (0.70 to 0.80)``; a bound as one; with ``undecided`` where the interval reaches
    within the threshold of 1."""
    if interval.bounds is None:
        return format_range(interval)
    low, high = interval.bounds
    text = format_range(interval)
    if low <= 0.0:
        text = f"at most {digits(high)}"
    elif high == float("inf"):
        text = f"at least {digits(low)}"
    border = 1.0 + threshold
    if low >= border or high <= 1.0 / border:
        return text
    is_equal = low > 1.0 / border and high < border
    return f"{text}, {'equivalent' if is_equal else 'undecided'}"


def markdown(section: Section, level: int) -> Iterator[str]:
    """A section of a report as Markdown, without its pictures."""
    yield from (f"{'#' * level} {section.title}", "")
    for paragraph in filter(None, section.paragraphs):
        yield from (escape(paragraph), "")
    for table in section.tables:
        yield from _table(table)
    if section.points:
        yield from (*(f"- {escape(point)}" for point in section.points), "")
    for inner in section.sections:
        yield from markdown(inner, level + 1)


def _table(table: Table) -> Iterator[str]:
    if table.caption:
        yield from (escape(table.caption), "")
    yield f"| {' | '.join(map(escape, table.columns))} |"
    yield f"|{'---|' * len(table.columns)}"
    yield from (f"| {' | '.join(map(escape, row))} |" for row in table.rows)
    yield ""


def escape(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\|*_<`])", r"\\\1", "; ".join(text.split("\n")))


def _trials(made: Reproduction) -> list[Trial]:
    return [trial for run in made.runs.values() for trial in run.trials]


def _manifests(made: Reproduction) -> list[Manifest]:
    return [directory.read_manifest(run.folder) for run in made.runs.values()]


def read_manifests(name: str, root: Path) -> list[Manifest]:
    """Those of the parts of a kept study; empty where it is not kept."""
    made = load(name, root)
    return _manifests(made) if made else []


if __name__ == "__main__":
    main()
