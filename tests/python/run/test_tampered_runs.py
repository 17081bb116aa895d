"""Run directories that somebody changed: every command that reads one refuses them with the file,
the line and the field, and takes bounded memory."""

from __future__ import annotations

import base64
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.python.hostile_runs import SLOWER, SMALL, write_run
from tests.python.synthetic_packets import capture_trial, make_dissection
from tests.python.synthetic_run import GRPC, REST, trials, write_reproduction
from wirelab.cli import main
from wirelab.errors import RunDirectoryError, StorageError
from wirelab.records.line import SHARED
from wirelab.records.trial import Trial
from wirelab.report.curves import HISTOGRAM_BYTES_MAX, UnreadableHistogram, decode_curve
from wirelab.run import archive, journal, keeping
from wirelab.run.directory import MANIFEST_BYTES_MAX
from wirelab.trial import dissected as document
from wirelab.trial import series

Json = dict[str, Any]
Steps = tuple[str | int, ...]

REPOSITORY = Path(__file__).parents[3]
MEMORY_BYTES_MAX = 300_000_000
MUTATIONS = 60
RELAXED = (0, 2)
"""Exit codes of a command that reads a run and judges nothing."""
HOSTILE: tuple[Any, ...] = (
    *(-1, -2.5e300, -(2**63), 2**63, 2**64, 10**30, 1e300, 0, 0.0, 1.5, True, None),
    *("", "-1", "nan", "x" * 300, "\ud800", "\x00", "\x1b[31m", "../../x", "2024-05-01"),
    *([], {}, [0], [[]], {"p50": 0}, {"": 0}, {"p-1": 5}),
    *(float("nan"), float("inf"), float("-inf")),
)


def write_pair(root: Path) -> tuple[Path, Path]:
    """Two runs of one experiment, and copies of the second that make a history."""
    second = write_run(root / "b", trials(SLOWER))
    for number in range(2, 6):
        shutil.copytree(second, root / f"b{number}")
    return write_run(root / "a", trials(SMALL)), second


def write_captured(folder: Path) -> Path:
    """A run with packets and the dissection of each trial."""
    every = [capture_trial(stack, order) for order in range(3) for stack in (REST, GRPC)]
    run = write_run(folder, every)
    for one in every:
        file = run / "trials" / one.id / "dissection-client.json"
        file.write_text(document.text(make_dissection()), encoding="utf-8")
    return run


def list_reading_commands(run: Path, other: Path, out: Path) -> list[list[str]]:
    """Every command that reads a finished run."""
    exports = [f"--export={out / 'figures'}.{kind}" for kind in ("csv", "json", "parquet")]
    return [
        ["report", str(run)],
        ["report", str(run), "--json", *exports, f"--export={out / 'figures.openmetrics'}"],
        ["diff", str(run), str(other)],
        ["diff", str(other), str(run), "--json"],
        ["history", str(run), *map(str, sorted(other.parent.glob("b*")))],
        ["browse", str(run.parent), "--once", str(out / "list.html")],
        # These runs have no captures, so it also refuses healthy ones.
        ["dissect", str(run)],
    ]


def change(run: Path, at: int, **parts: Any) -> None:
    """Changes values of one line of the journal, the names of inner ones joined by ``__``."""
    file = run / "trials.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for name, value in parts.items():
        *way, last = name.split("__")
        inner = lines[at] if name.split("__")[0] in SHARED else lines[at]["cells"][0]
        for step in way:
            inner = inner[step]
        inner[last] = value
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The message of a command that exits with 2, on one line."""
    capsys.readouterr()
    assert main(list(words)) == 2, words
    written = capsys.readouterr()
    assert "Traceback" not in written.err
    return " ".join(written.err.split())


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"result__calls": -3}, "result.calls is negative"),
        ({"result__times__response__mean_ns": -0.5}, "result.times.response.mean_ns is negative"),
        ({"result__rate_per_s": float("nan")}, "contains NaN"),
        ({"result__window_s": float("-inf")}, "contains -Infinity"),
        ({"result__rate_per_s": 1e300}, "result.rate_per_s does not fit"),
        ({"result__rate_per_s": 10**400}, "result.rate_per_s is not a finite number"),
        ({"point__bytes": 2**63}, "point.bytes does not fit"),
        ({"result__ok": "12"}, "result.ok: expected `int`, got `str`"),
        ({"result__series": [1, None]}, "result.series[1]: expected `int`, got `null`"),
        ({"engine__cores": {}}, "engine.cores: expected `array | null`, got `object`"),
        ({"service": []}, "service: expected an object"),
        ({"background": 7}, "background: expected a list"),
        ({"status": "done"}, "status: invalid enum value 'done'"),
        ({"resutl": {}}, "resutl: unknown key"),
        ({"id": "../x"}, "id is not the name of a folder"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_hostile_value_is_refused_with_file_line_and_field(
    parts: Json, field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = write_pair(tmp_path)
    change(run, 2, **parts)
    for words in list_reading_commands(run, other, tmp_path)[:5]:
        message = refusal(capsys, *words)
        assert f"{run / 'trials.jsonl'}:3" in message.replace(" ", "") or ":3 is not" in message
        assert field in message
        assert "restore the file" in message


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"trials_planned": -1}, "trials_planned is -1, which is negative"),
        ({"threshold": -0.1}, "threshold is -0.1"),
        ({"threshold": float("inf")}, "contains Infinity"),
        ({"seed": "one"}, "Expected `int | null`, got `str` - at `$.seed`"),
        ({"sessions": [3]}, "$.sessions[0]"),
        ({"threshold": 10**400}, "threshold is not a finite number"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_hostile_manifest_is_refused_with_its_field(
    values: Json, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = write_pair(tmp_path)
    file = run / "manifest.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))
    for words in list_reading_commands(run, other, tmp_path)[:5]:
        message = refusal(capsys, *words)
        assert "manifest.json" in message
        assert problem in message


def test_healthy_runs_are_read(tmp_path: Path) -> None:
    """Also negative numbers where a difference or a setting may have them."""
    run, other = write_pair(tmp_path)
    change(run, 0, point__options={"offset": -3}, service__set={"nice": -5, "seed": 2**64 - 1})
    for words in list_reading_commands(run, other, tmp_path)[:-1]:
        assert main(words) == 0, words


def test_journals_of_real_runs_are_read() -> None:
    """Services in every language report what they like, such as -1 for a maximum that is not
    known, and the largest numbers of 64 bits."""
    archived = REPOSITORY / "docs/runs/atlas"
    assert journal.file_in(archived).name == archive.NAME
    assert len(journal.read(journal.file_in(archived)).trials) == 504
    file = REPOSITORY / "tests/python/runs/format-1/trials.jsonl"
    assert len(journal.read(file).trials) == file.read_bytes().count(b"\n") > 0


def archive_run(run: Path) -> Path:
    """Replaces the journal of a run by its archive."""
    plain = run / journal.NAME
    archive.write(plain.read_bytes().splitlines(), run / archive.NAME)
    plain.unlink()
    return run / archive.NAME


def test_an_archived_run_is_read_as_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = write_pair(tmp_path)
    before = journal.read(run / journal.NAME)
    commands = list_reading_commands(run, other, tmp_path)[:-1]
    printed = [(main(words), capsys.readouterr().out) for words in commands]
    file = archive_run(run)
    assert journal.read(file) == before
    again = [(main(words), capsys.readouterr().out) for words in commands]
    # The first command alone says in words what the archive leaves out.
    code, report = again[0]
    note, rest = report[: report.index("rest@rust")], report[report.index("rest@rust") :]
    assert " ".join(note.split()) == f"• {keeping.LEFT_OUT}"
    assert [(code, rest), *again[1:]] == printed


def test_an_archived_run_is_not_continued(tmp_path: Path) -> None:
    run, _ = write_pair(tmp_path)
    file = archive_run(run)
    with pytest.raises(RunDirectoryError, match=f"cannot be continued: .* {archive.NAME}"):
        journal.Journal(run / journal.NAME)
    assert journal.file_in(run) == file


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"PAR1", "magic|too small|smaller"),
        (b"x" * (archive.BYTES_MAX + 1), "more than 16,000,000 bytes"),
        (None, "not a trial record"),
    ],
)
def test_a_damaged_archive_is_refused(tmp_path: Path, content: bytes | None, problem: str) -> None:
    run, _ = write_pair(tmp_path)
    file = archive_run(run)
    if content is None:
        archive.write([b'{"id": "a"}'], file)
    else:
        file.write_bytes(content)
    with pytest.raises(RunDirectoryError, match=problem):
        journal.read(file)


def test_an_archive_with_more_than_a_journal_may_have_is_refused(tmp_path: Path) -> None:
    """Compressed, a line of a hundred million zeros is small."""
    file = tmp_path / archive.NAME
    long = b'{"id": "a", "x": "' + b"0" * journal.LINE_BYTES_MAX + b'"}'
    archive.write([long], file)
    assert file.stat().st_size < 10_000
    with pytest.raises(RunDirectoryError, match="a line has more than"):
        journal.read(file)
    archive.write([long[: journal.LINE_BYTES_MAX - 2] + b'"}'] * 40, file)
    with pytest.raises(RunDirectoryError, match="more than 128,000,000"):
        journal.read(file)


def test_a_line_that_a_kill_cut_costs_only_its_trial(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, other = write_pair(tmp_path)
    file = run / "trials.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for rest in (lines[-1][:400], lines[-1][:-1], b'{"id": "half\n', b"\0" * 4096):
        file.write_bytes(b"".join(lines[:-1]) + rest)
        for words in list_reading_commands(run, other, tmp_path)[:-1]:
            assert main(words) == 0, words
    main(["report", str(run)])
    assert "last line of the journal is incomplete" in " ".join(capsys.readouterr().out.split())


def test_a_line_of_a_gigabyte_takes_no_memory(tmp_path: Path) -> None:
    """The file has holes, which take no space; reading them gives zeros."""
    run, other = write_pair(tmp_path)
    file = run / "trials.jsonl"
    line = file.read_bytes().count(b"\n") + 1
    os.truncate(file, file.stat().st_size + 1_000_000_000)
    for words in list_reading_commands(run, other, tmp_path)[:5]:
        code, peak, message = measure(words)
        assert code == 2
        assert f"trials.jsonl:{line} cannot be read: it has more than 4,000,000 bytes" in message
        assert peak < MEMORY_BYTES_MAX


def test_many_long_lines_are_refused_within_bounded_memory(tmp_path: Path) -> None:
    run, _ = write_pair(tmp_path)
    file = run / "trials.jsonl"
    with file.open("ab") as lines:
        for _ in range(1 + journal.BYTES_MAX // 3_000_000):
            lines.write(b'{"id": "' + b"x" * 3_000_000 + b'"}\n')
    code, peak, message = measure(["report", str(run)])
    assert code == 2
    assert "trials.jsonl:13 is not a trial record" in message
    assert peak < MEMORY_BYTES_MAX


def test_a_manifest_beyond_its_limit_is_refused(tmp_path: Path) -> None:
    run, other = write_pair(tmp_path)
    os.truncate(run / "manifest.json", 1_000_000_000)
    for words in list_reading_commands(run, other, tmp_path)[:5]:
        code, peak, message = measure(words)
        assert code == 2
        assert f"manifest.json has more than {MANIFEST_BYTES_MAX:,} bytes" in message
        assert peak < MEMORY_BYTES_MAX


MEASURE = """
import os, sys
from wirelab.cli import main
from wirelab.process.metrics import rss_max_bytes
code = main(sys.argv[1:])
# Not ru_maxrss: that begins with the peak of the process that forked this one.
print(rss_max_bytes(os.getpid()), file=sys.stderr)
sys.exit(code)
"""


def measure(words: list[str]) -> tuple[int, int, str]:
    """Exit code, highest memory in bytes and message of a command in its own process."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "1000"},
    )
    *message, peak = done.stderr.splitlines()
    return done.returncode, int(peak), " ".join(message)


def test_a_journal_that_would_exceed_its_limits_takes_no_further_trial(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is written can be read again."""
    (first, *_) = trials(SMALL)
    book = journal.Journal(tmp_path / "trials.jsonl")
    book.append(fail_trial(first))
    before = book.path.read_bytes()
    for name in ("LINE_BYTES_MAX", "BYTES_MAX"):
        with monkeypatch.context() as patched:
            patched.setattr(journal, name, len(before) + 10)
            with pytest.raises(StorageError, match="cannot take another trial"):
                book.append(fail_trial(first, "x" * 100))
        assert book.path.read_bytes() == before
    book.append(fail_trial(first, "x" * 100))
    assert len(journal.read(book.path).lines) == 2


def fail_trial(trial: Trial, reason: str = "") -> Trial:
    """A failed trial."""
    return Trial(trial.id, trial.point, trial.repeat, trial.order, "failed", reason)


@pytest.mark.parametrize("name", ["trials.jsonl", "manifest.json"])
def test_a_pipe_in_place_of_a_file_is_refused_without_waiting(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = write_pair(tmp_path)
    (run / name).unlink()
    os.mkfifo(run / name)
    assert f"{name} is not a regular file" in refusal(capsys, "report", str(run))


def test_a_binary_histogram_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The page states it; an export of histograms cannot be made."""
    run, _ = write_pair(tmp_path)
    log = next((run / "trials").glob("*/histograms.hlog"))
    log.write_bytes(b"#[Histogram log format version 1.3]\n\xff\xfe\x00\x01\x02Tag=response,\x80\n")
    assert main(["report", str(run)]) == 0
    assert "histograms.hlog" in (run / "report.html").read_text(encoding="utf-8")
    message = refusal(capsys, "report", str(run), "--export", str(tmp_path / "all.hlog"))
    assert "histograms.hlog:2 is not a line of a histogram log" in message
    assert not (tmp_path / "all.hlog").exists()


def test_a_histogram_that_unpacks_to_a_gigabyte_is_not_unpacked() -> None:
    packed = zlib.compress(b"\0" * (HISTOGRAM_BYTES_MAX + 1))
    head = (0x1C849304).to_bytes(4, "big") + len(packed).to_bytes(4, "big")
    with pytest.raises(UnreadableHistogram, match="a histogram has more than"):
        decode_curve(base64.b64encode(head + packed).decode(), "here")
    whole = next(one for one in trials(SMALL)[0].result.times.values() if one.hdr)
    assert decode_curve(whole.hdr or "", "here")


def test_a_series_with_too_many_values_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = series.Series()
    for at in range(50):
        written.add(at, {"threads": 1.0})
    written.write(tmp_path / series.NAME)
    assert len(series.read(tmp_path / series.NAME)["threads"]) == 50
    monkeypatch.setattr(series, "ROWS_MAX", 49)
    with pytest.raises(series.UnreadableSeries, match="more than 49 rows"):
        series.read(tmp_path / series.NAME)


def test_a_damaged_dissection_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_captured(tmp_path / "run")
    assert main(["report", str(run)]) == 0
    for file in (run / "trials").glob("*/dissection-client.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        file.write_text(json.dumps({**content, "flows": 7}), encoding="utf-8")
    assert "dissection-client.json is not a dissection" in refusal(capsys, "report", str(run))


def test_a_binary_experiment_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = write_captured(tmp_path / "run")
    (run / "experiment.yaml").write_bytes(b"name: \xff\xfe\n")
    message = refusal(capsys, "dissect", str(run), "--test")
    assert "experiment.yaml cannot be read: it is not UTF-8 text" in message


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"[]", "it is not a mapping"),
        (b'{"study": 5, "scale": 1}', "study is not a text"),
        (b'{"study": "hamo2023", "scale": NaN}', "contains NaN"),
        (b'{"study": "hamo2023", "scale": -1}', "scale is not a number above 0"),
        (b'{"study": "hamo2023"}', "'scale' is missing"),
        (b"\xff\xfe", "it is not UTF-8 text"),
    ],
)
def test_a_damaged_reproduction_is_refused(
    content: bytes, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_reproduction(tmp_path / "study", trials(SMALL))
    assert main(["report", str(folder)]) in {0, 1, 5}
    (folder / "study.json").write_bytes(content)
    assert problem in refusal(capsys, "report", str(folder))


def steps(value: Any, way: Steps = ()) -> Iterator[Steps]:
    """The way to every field of a JSON value."""
    if way:
        yield way
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from steps(inner, (*way, name))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from steps(inner, (*way, at))


def put(document: Any, way: Steps, value: Any) -> None:
    """Replaces one field, where it is there."""
    for step in way[:-1]:
        document = document[step]
    document[way[-1]] = value


@pytest.mark.parametrize("make", [lambda root: write_pair(root)[0], write_captured])
def test_no_value_of_any_field_ends_a_command_otherwise(
    make: Callable[[Path], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each mutation changes one field, in one trial or in all. The seed is fixed."""
    run = make(tmp_path / "runs")
    _, other = write_pair(tmp_path / "others")
    file = run / "trials.jsonl"
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    chosen = random.Random(20)
    ways = [(True, way) for way in steps(lines[0])] + [(False, way) for way in steps(manifest)]
    codes = set()
    for _ in range(MUTATIONS):
        (in_journal, way), value = chosen.choice(ways), chosen.choice(HOSTILE)
        changed, stated = copy.deepcopy(lines), copy.deepcopy(manifest)
        if in_journal:
            for line in changed if chosen.random() < 0.5 and way[0] != "id" else changed[:1]:
                put(line, way, value) if has(line, way) else None
        else:
            put(stated, way, value)
        file.write_text("".join(json.dumps(line) + "\n" for line in changed), encoding="utf-8")
        (run / "manifest.json").write_text(json.dumps(stated), encoding="utf-8")
        words = chosen.choice(list_reading_commands(run, other, tmp_path))
        code = main(words)
        assert code in RELAXED, (words, way, value)
        assert "Traceback" not in capsys.readouterr().err
        codes.add(code)
    assert codes == set(RELAXED)


def has(document: Any, way: Steps) -> bool:
    """Whether a value has that field."""
    for step in way:
        try:
            document = document[step]
        except (KeyError, IndexError, TypeError):
            return False
    return True
