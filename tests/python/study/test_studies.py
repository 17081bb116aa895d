"""Studies as files: found, read, refused with line and remedy, scaled, judged and shown."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.python.synthetic_ladder import trial
from tests.python.synthetic_run import write_run
from wirelab.cli.output.reproduce import show
from wirelab.errors import ExperimentError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.experiment.scaling import Windows, replace_keys, scale_text
from wirelab.explain.cell_selector import CellSelector, levels
from wirelab.records.trial import Point
from wirelab.stack import manifests
from wirelab.study import catalogue as studies
from wirelab.study import loading as study_file
from wirelab.study import manifest as study_manifest
from wirelab.study import plan as planning_parts
from wirelab.study import reproduction
from wirelab.study import sections as study_page
from wirelab.study.catalogue import Found

STUDIES = Path(__file__).parents[3] / "studies"


@pytest.fixture(scope="module")
def found() -> Found:
    """The study as it is committed."""
    return studies.load("hamo2023", STUDIES)


@pytest.fixture(scope="module")
def points(found: Found) -> dict[str, list[Point]]:
    """The points of every part, each once."""
    return points_of(found)


def points_of(found: Found, parts: Sequence[str] = ()) -> dict[str, list[Point]]:
    """The points of these parts of a study, or of those that it runs by itself, each once."""
    catalogue = manifests.load(STUDIES.parent / "services")
    planned = {}
    for part in parts or found.study.parts:
        experiment = experiment_file.load(found.part(part))
        trials = planning.schedule(experiment, catalogue).trials
        planned[part] = [cell.point for t in trials if t.repeat == 1 for cell in t.cells]
    return planned


def test_the_study_is_listed(found: Found) -> None:
    """With its title."""
    assert ("hamo2023", found.study.title) in [one[:2] for one in studies.listing(STUDIES)]


def test_a_misspelt_name_is_guessed() -> None:
    """And the known ones are named."""
    with pytest.raises(UsageError, match="no study 'hamo2032'") as printed:
        studies.load("hamo2032", STUDIES)
    assert "Did you mean 'hamo2023'?" in printed.value.remedy


def test_published_counts(found: Found) -> None:
    """The file holds the study's own numbers of calls and of users."""
    matrix = experiment_file.load(found.part("matrix"))
    assert matrix.window.calls == {"14 B": 500_000, "150 kB": 200_000, "3 MB": 20_000}
    users = [load.closed.users for load in matrix.loads if load.closed]
    assert users == [1, 10, 50, 100, 400]


def cells_of_findings(found: Found) -> Iterator[tuple[str, tuple[str, ...], CellSelector]]:
    """Every cell that any finding needs."""
    for claim in found.study.every_finding:
        finding = claim.finding(found.study.arms, found.study.threshold)
        crossing = claim.to_crossing(found.study.arms, found.study.threshold)
        steps = crossing.along if crossing else levels({})
        for level in finding.levels:
            for step in (*steps, *(finding.growth or ())):
                for cell in (*finding.over, *finding.under):
                    expected = cell.change({**level, **step})
                    if finding.growth and "users" not in {**level, **step}:
                        continue
                    yield claim.id, found.study.parts_of(claim), expected


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_every_finding_is_measured(name: str) -> None:
    """No claim waits for a cell that no part measures, and none names more than one."""
    found = studies.load(name, STUDIES)
    points = points_of(found, found.study.every_part)
    for claim, parts, expected in cells_of_findings(found):
        matching = [p for part in parts for p in points[part] if expected.matches(p)]
        assert len(matching) == 1, f"{claim}: {expected}: {len(matching)}"


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_every_published_figure_is_shown_or_has_a_reason(name: str) -> None:
    """Next to a measured one, or in the table of those that are not."""
    study = studies.load(name, STUDIES)
    for row in study.published:
        is_shown = any(entry.takes(row) for entry in study.study.published)
        assert is_shown or any(entry.takes(row) for entry in study.study.not_shown), row
    assert sum(any(e.takes(row) for e in study.study.published) for row in study.published) >= 54


def test_every_rung_is_measured(found: Found, points: dict[str, list[Point]]) -> None:
    """The ladder's cells are all in its part."""
    for entry in found.study.ladders:
        for ladder in entry.ladders(found.study.threshold):
            for expected in ladder.cells:
                assert sum(expected.matches(point) for point in points[entry.part]) == 1, str(
                    expected
                )


def test_the_ladder_leads_from_start_to_goal(found: Found) -> None:
    """Counted rungs change one thing each, but for the one that changes the binding."""
    ladder = found.study.ladders[0].ladders(0.05)[0]
    bundles = [rung.id for rung in ladder.rungs if rung.counted and len(rung.changes) > 1]
    assert bundles == ["grpc"]
    assert ladder.rungs[3].before == ladder.together
    assert next(r for r in ladder.rungs if r.id == "chunked").after == ladder.goal


def edit_study(found: Found, old: str, new: str) -> str:
    """The study's text with one slip."""
    text = (found.folder / studies.FILE).read_text(encoding="utf-8")
    assert old in text
    return text.replace(old, new, 1)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "threshold: 0.05",
            "treshold: 0.05",
            r":\d+: treshold: unknown key. Did you mean 'thr",
        ),
        ("over: [grpc]", "over: [grcp]", r"there is no arm 'grcp'. Did you mean 'grpc'\?"),
        ("figure: little", "figure: litle", r"figure: there is no metric 'litle'. Did you mean 'l"),
        ("part: puzzle", "part: pussle", r"part 'pussle' is not in `parts`. Did you mean 'puzzle'"),
        ("expect: {above: 1}", "expect: {above: 1, below: 2}", r"expect: write exactly one of"),
        ("stack: grpc@go,", "stack: grcp@go,", r"arms.grpc.stack: .*there is no binding 'grcp'"),
        (
            "change: {client.h2_window: engine}",
            "change: {client.h2_windw: engine}",
            r"study:\d+: ladders\[0\]: 'client.h2_windw' is neither an axis nor a property",
        ),
        (
            "change: {connection: close}",
            "change: {connection: keep}",
            r"rung 'close' changes nothing",
        ),
        (
            "{end_of_message: chunked}",
            "{client.nagle: on}",
            r"far rungs of ladder 'puzzle' end",
        ),
        ("question: Which", "questio: Which", r"study:\d+: question: this key is missing"),
        (
            "- id: small-keep",
            "- id: small-published",
            r"two findings have the name 'small-published'",
        ),
        ("expect: {crosses: 1}", "expect: {above: 1}", r"belong together"),
        (
            "    each: {users",
            "    some: {users: [1]}\n    each: {users",
            r"`some` has none of `each`",
        ),
        ("part: puzzle", "part: payloads", r"part 'payloads' is not in `parts`"),
        (
            "part: networks",
            "part: netwrks",
            r"'netwrks' is not in `parts`. Did you mean 'networks'",
        ),
        ("- id: networks-keep", "- id: small-keep", r"two findings have the name 'small-keep'"),
    ],
)
def test_a_mistake_is_reported_with_its_remedy(
    found: Found, old: str, new: str, message: str
) -> None:
    """Line, key, and what was meant."""
    with pytest.raises(ExperimentError, match=message):
        study_file.parse(edit_study(found, old, new))


def test_the_line_is_that_of_the_slip(found: Found) -> None:
    """Not that of its section."""
    text = edit_study(found, "figure: little", "figure: litle")
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "litle" in row)
    with pytest.raises(ExperimentError, match=rf"study:{line}: findings\[\d+\]\.figure"):
        study_file.parse(text)


def test_a_missing_part_is_reported(tmp_path: Path, found: Found) -> None:
    """By the file that should be there."""
    shutil.copytree(found.folder, tmp_path / "hamo2023")
    (tmp_path / "hamo2023" / "puzzle.yaml").unlink()
    with pytest.raises(
        UsageError, match=r"names the part 'puzzle', and .*puzzle\.yaml does not exist"
    ):
        studies.load("hamo2023", tmp_path)


@pytest.mark.parametrize(
    ("scale", "calls", "seconds"),
    [(0.1, 50_000, 2.0), (0.01, 5_000, 0.2), (0.001, 500, 0.05), (1.0, 500_000, 900.0)],
)
def test_scaling(found: Found, scale: float, calls: int, seconds: float) -> None:
    """Calls in proportion, the bound in proportion to the default; at 1 the file's own."""
    text = found.part("matrix").read_text(encoding="utf-8")
    window = experiment_file.parse(scale_text(text, "x", scale, Windows(0.1, 2.0))).window
    planned = window.plan_for_size(14).calls
    assert planned is not None
    assert planned.calls == calls
    assert planned.max_s == pytest.approx(seconds)


@pytest.mark.parametrize(("scale", "seconds"), [(0.1, 2.0), (0.05, 1.0), (1.0, None)])
def test_time_closes_the_windows_of_timed_parts_below_scale_1(
    found: Found, scale: float, seconds: float | None
) -> None:
    text = found.part("matrix").read_text(encoding="utf-8")
    made = scale_text(text, "x", scale, Windows(0.1, 2.0, is_timed=True))
    assert experiment_file.parse(made).window.duration == seconds


def test_every_cell_of_the_matrix_has_calls_and_services_share_its_trials(found: Found) -> None:
    assert found.study.timed == ("matrix",)
    made = planning_parts.plan(found, None, quick=False)
    window = made.experiments["matrix"].window
    assert (window.calls, window.duration) == (None, found.study.window_max)
    assert any("matrix: every cell has a window of 1.5 s" in line for line in made.announcement())
    planned = planning.schedule(made.experiments["matrix"], manifests.load())
    sizes = {trial.cell.point.bytes: len(trial.cells) for trial in planned.trials}
    assert sizes == {14: 6, 150_000: 6, 3_000_000: 1}
    assert len(planned.apart) == 1
    assert "the initial window on large messages (30 of 90 cells" in planned.apart[0]
    whole = planning_parts.plan(found, 1.0, quick=False)
    assert whole.experiments["matrix"].window.calls is not None


def test_scaling_changes_nothing_else(found: Found) -> None:
    """Only the window."""
    text = found.part("puzzle").read_text(encoding="utf-8")
    after = experiment_file.parse(scale_text(text, "x", 0.5, Windows(1.0, 2.0)))
    before = experiment_file.parse(text)
    assert after.model_copy(update={"window": before.window}) == before


@pytest.mark.parametrize("name", studies.names(STUDIES))
def test_a_first_look_takes_three_minutes(name: str) -> None:
    """By the lab's own estimate; its cells are cells of the study's parts."""
    found = studies.load(name, STUDIES)
    catalogue = manifests.load(STUDIES.parent / "services")
    seconds = 0.0
    assert found.study.quick
    for part, keys in found.study.quick.items():
        text = found.part(part).read_text(encoding="utf-8")
        whole = planning.schedule(experiment_file.parse(text), catalogue).trials
        quick = experiment_file.parse(replace_keys(text, "x", keys))
        trials = planning.schedule(quick, catalogue).trials
        cells = [cell.point for trial in whole if trial.repeat == 1 for cell in trial.cells]
        assert all(cell.point in cells for trial in trials for cell in trial.cells)
        seconds += sum(planning.seconds(quick, trial) for trial in trials)
    assert seconds <= 180


def test_a_first_look_is_marked_and_judges_what_it_measured(
    tmp_path: Path,
    points: dict[str, list[Point]],
    found: Found,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In the terminal and on the page; findings of other parts are left out."""
    few = [p for p in points["matrix"] if p.bytes == 14 and p.load.users in (1, 100)]
    folder = write_reproduction(tmp_path / "out", {"matrix": few}, found)
    path = folder / study_manifest.NAME
    manifest = json.loads(path.read_text(encoding="utf-8")) | {"quick": True}
    path.write_text(json.dumps(manifest), encoding="utf-8")
    made = reproduction.read(folder, STUDIES)
    ids = {judged.finding.id for judged in made.judgements}
    assert "small-published" in ids
    assert not ids & {"large-stream", "unpinned-small"}
    assert made.explanations == ()
    show(made, as_json=False)
    page = (folder / "report.html").read_text(encoding="utf-8")
    for place in (" ".join(capsys.readouterr().out.split()), page):
        assert f"First look: 1 of 5 parts, with fewer cells and repeats, and {len(ids)} of" in place
        assert "has not been run yet" not in place


def test_a_first_look_has_no_scale(tmp_path: Path) -> None:
    """The two options exclude each other."""
    with pytest.raises(UsageError, match="--quick and --scale exclude each other"):
        reproduction.reproduce("hamo2023", tmp_path, scale=0.5, quick=True, where=STUDIES)


def seconds_per_call(point: Point) -> float:
    """A world that resembles the study: gRPC is quick with small messages and slow with large
    ones; a connection per call costs 50 us; the window of 64 KiB costs a third."""
    size = point.bytes
    base = 15e-6 + size * 0.5e-9 if point.axes.binding == "rest" else 10e-6 + size * 0.8e-9
    base += 50e-6 if point.axes.connection.kind == "close" else 0.0
    base += size * 0.2e-9 if point.axes.codec == "json" else 0.0
    return base * (1.5 if point.axes.client.h2_window == 65535 else 1.0)


def write_reproduction(folder: Path, points: dict[str, list[Point]], found: Found) -> Path:
    """A reproduction's folder, as a run would leave it."""
    folder.mkdir()
    manifest = {"study": "hamo2023", "scale": 0.1, "sha256": found.sha256}
    (folder / study_manifest.NAME).write_text(json.dumps(manifest), encoding="utf-8")
    for part, every in points.items():
        trials = [
            trial(
                CellSelector.of({"stack": point.stack}).change(
                    {
                        "operation": point.operation,
                        "bytes": point.bytes,
                        "users": point.load.users,
                        "chunk": point.options.get("chunk_bytes"),
                        "placement": point.options.get("placement"),
                    }
                ),
                seconds_per_call(point) * (1 + 0.004 * repeat),
                repeat,
            )
            for point in every
            for repeat in (1, 2, 3)
        ]
        write_run(folder / part, trials)
    return folder


def test_a_reproduction_is_judged_and_shown(
    tmp_path: Path, points: dict[str, list[Point]], found: Found
) -> None:
    """From run directories to findings.json, sentences and one page."""
    folder = write_reproduction(tmp_path / "out", points, found)
    made = reproduction.read(folder, STUDIES)
    outcome = {judged.finding.id: judged.outcome for judged in made.judgements}
    assert outcome["small-published"] == "holds"
    assert outcome["large-many-double"] == "does not hold"
    assert outcome["policy"] == "holds"
    assert outcome["crossover"] == "holds"
    assert "windows" in made.explanations[0].causes
    assert "text-check" not in made.explanations[0].causes
    assert len(made.lines) == 30
    assert made.lines[0].published_ratio == pytest.approx(0.07 / 0.08)
    page = study_page.write(made)
    text = page.read_text(encoding="utf-8").replace("<wbr>", "")
    for claim in found.study.findings:
        assert claim.claim.split(",")[0].replace("'", "&#39;") in text
    assert "(7,010, 712) †" in text
    saved = json.loads((folder / reproduction.FINDINGS).read_text(encoding="utf-8"))
    assert len(saved["findings"]) == len(found.study.findings)
    assert any("Why did gRPC lose" in sentence for sentence in study_page.sentences(made))


def test_a_terminal_shows_the_claims_and_the_report_the_rest(
    tmp_path: Path,
    points: dict[str, list[Point]],
    found: Found,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each claim once, under what came of it; causes only when asked for."""
    made = reproduction.read(write_reproduction(tmp_path / "out", points, found), STUDIES)
    monkeypatch.setattr(study_page, "write", lambda _: tmp_path / "out" / "report.html")
    show(made, as_json=False)
    brief = capsys.readouterr().out
    assert "\nholds:\n• " in brief
    assert all(brief.count(f"[{claim.id}]") == 1 for claim in found.study.findings)
    assert "Why did gRPC lose" not in brief
    assert max(map(len, brief.splitlines()[:-1])) <= 80
    show(made, as_json=False, verbose=True)
    assert "Why did gRPC lose" in " ".join(capsys.readouterr().out.split())


def test_a_reproduction_with_outcomes_of_an_earlier_version_is_judged_again(
    tmp_path: Path,
    points: dict[str, list[Point]],
    found: Found,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Outcomes are never read from disk: a findings.json with old outcomes is written again."""
    folder = write_reproduction(tmp_path / "out", points, found)
    before = {"findings": [{"id": "x", "outcome": "unknown"}, {"outcome": "stands"}]}
    (folder / "findings.json").write_text(json.dumps(before), encoding="utf-8")
    made = reproduction.read(folder, STUDIES)
    show(made, as_json=True)
    shown = json.loads(capsys.readouterr().out)
    stored = json.loads((folder / "findings.json").read_text(encoding="utf-8"))
    for document in (shown, stored):
        outcomes = {judged["outcome"] for judged in document["findings"]}
        assert outcomes <= {"holds", "does not hold", "undecided"}
        assert outcomes
        squares = [one for table in document["winners"] for one in table["squares"]]
        assert all(one["reason"] for one in squares if one["verdict"] == "undecided")


def test_an_unfinished_reproduction_is_reported(
    tmp_path: Path,
    points: dict[str, list[Point]],
    found: Found,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A part that is not there yet leaves its findings open and the page whole."""
    folder = write_reproduction(tmp_path / "out", {"matrix": points["matrix"]}, found)
    made = reproduction.read(folder, STUDIES)
    outcome = {judged.finding.id: judged.outcome for judged in made.judgements}
    assert outcome["large-stream"] == "undecided"
    assert made.explanations[0].causes == ()
    show(made, as_json=False)
    page = (folder / "report.html").read_text(encoding="utf-8")
    missing = [part for part in found.study.parts if part != "matrix"]
    assert missing
    for place in (" ".join(capsys.readouterr().out.split()), page):
        assert all(f"Part {part} has not been run yet." in place for part in missing)


def test_of_a_reproduction_that_has_not_begun_there_is_no_page(
    tmp_path: Path, found: Found
) -> None:
    """Interrupted before its first part: the command that goes on is named."""
    made = reproduction.read(write_reproduction(tmp_path / "out", {}, found), STUDIES)
    with pytest.raises(UsageError, match="holds no part of hamo2023 yet") as caught:
        study_page.write(made)
    assert "wirelab reproduce hamo2023 --out" in caught.value.remedy


def test_few_calls_per_user_are_pointed_out(
    tmp_path: Path, points: dict[str, list[Point]], found: Found
) -> None:
    """400 users who share a few hundred calls are said to."""
    few = [point for point in points["matrix"] if point.bytes == 3_000_000]
    made = reproduction.read(write_reproduction(tmp_path / "out", {"matrix": few}, found), STUDIES)
    assert any("fewer than 5 calls" in note and "400 users" in note for note in made.notes)


def test_another_scale_does_not_go_on_in_the_same_folder(tmp_path: Path, found: Found) -> None:
    """What was measured under one scale is never mixed with another."""
    folder = tmp_path / "out"
    folder.mkdir()
    manifest = {"study": "hamo2023", "scale": 0.1, "sha256": found.sha256}
    (folder / study_manifest.NAME).write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(UsageError, match=r"holds hamo2023 at scale 0\.1"):
        reproduction.reproduce("hamo2023", folder, scale=0.2, where=STUDIES)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1.5])
def test_a_scale_is_a_share(tmp_path: Path, scale: float) -> None:
    """Nothing, less, and more than all are refused."""
    with pytest.raises(UsageError, match="is not a share"):
        reproduction.reproduce("hamo2023", tmp_path / "out", scale=scale, where=STUDIES)


def test_a_folder_with_other_things_is_left_alone(tmp_path: Path) -> None:
    """A reproduction begins in an empty folder."""
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match="contains files"):
        reproduction.reproduce("hamo2023", tmp_path, where=STUDIES)


def test_a_cell_of_streams_is_named_without_its_items() -> None:
    """And with them; no other operation is meant."""
    found = studies.load("streams2026", STUDIES)
    points = points_of(found, ["links"])["links"]
    whole = "Feed with 10 items (constant, 20 ms)"
    for name, matching in (("Feed", True), (whole, True), ("Fee", False), ("Hello", False)):
        selector = CellSelector.of({"stack": "sse@rust", "operation": name})
        assert any(map(selector.matches, points)) is matching, name
