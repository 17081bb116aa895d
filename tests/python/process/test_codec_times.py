"""Codecs alone: what an experiment with ``codec_times`` asks of a service, keeps and shows."""

from __future__ import annotations

import hashlib
import http.client
import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import msgspec
import pytest

from tests.python.synthetic_run import REST, World, point, trial, users, write_run
from wirelab.documents import to_json
from wirelab.documents.codec_times import Batch, CodecTimes
from wirelab.errors import ExperimentError, TrialFailed
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import matrix as planning
from wirelab.process.children import ProcessOptions
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs, Service, Settings
from wirelab.records.codec import CodecRecord
from wirelab.records.line import from_line, to_line
from wirelab.records.trial import Trial
from wirelab.report.sections import codecs
from wirelab.report.source import Source
from wirelab.run import runner as running
from wirelab.stack import manifests
from wirelab.stack.reference import Stack
from wirelab.statistics.figure import CODEC

SCHEMA = Path(__file__).parents[3] / "contracts" / "process" / "codec-times.schema.json"
EXPERIMENT = """\
name: codecs
services: [rest@rust, rest@rust?codec=protobuf]
messages: [{operation: ListOwners}]
prepare: [{operation: AddOwner, calls: 50}]
loads: [closed: {users: 1}]
window: {duration: 200 ms}
warmup: {min: 0 s, max: 200 ms}
repeats: 1
codec_times: true
"""
TIMES = CodecTimes(
    operation="Hello",
    bytes=25,
    sha256="00",
    # The first half is left out: batches grow, and the machine is not warm.
    encode=tuple(Batch(runs=runs, ns=ns) for runs, ns in ((1, 900), (2, 800), (4, 400), (4, 480))),
    decode=tuple(Batch(runs=1, ns=ns) for ns in (9000, 300, 500, 310)),
)


def _schedule(text: str) -> planning.Schedule:
    return planning.schedule(experiment_file.parse(text), manifests.load())


def _make_trial(repeat: int, times: CodecTimes = TIMES) -> Trial:
    one = trial(point(REST, 14, users(1)), repeat, repeat, World())
    return replace(one, service=replace(one.service, codec=CodecRecord.of(times)))


def test_a_record_has_the_medians_of_the_second_half_of_the_batches() -> None:
    record = CodecRecord.of(TIMES)
    assert (record.encode_ns, record.decode_ns, record.bytes) == (110.0, 405.0, 25)


def test_figures_survive_the_journal_and_are_absent_where_nothing_was_timed() -> None:
    one = _make_trial(0)
    (read,) = from_line(json.loads(json.dumps(to_line([one]))))
    mean_ns = one.time_ns("service", "mean")
    assert mean_ns is not None
    assert [figure.of(read) for figure in CODEC] == [110.0, 405.0, 110.0 / mean_ns]
    bare = replace(one, service=replace(one.service, codec=None))
    assert [figure.of(bare) for figure in CODEC] == [None, None, None]
    assert "codec" not in to_line([bare])["cells"][0]["service"]


def test_the_report_shows_sizes_and_times_where_there_are_any(tmp_path: Path) -> None:
    larger = msgspec.structs.replace(TIMES, bytes=31)
    write_run(tmp_path / "run", [_make_trial(0), _make_trial(1), _make_trial(2, larger)])
    made = codecs.section(Source.read(tmp_path / "run"))
    [[_, load, reply, encode, decode, share]] = made.tables[0].rows
    assert (load, reply, encode, decode) == ("1 user", "25.0 B to 31.0 B", "110 ns", "405 ns")
    assert share
    write_run(tmp_path / "bare", [trial(point(REST, 14, users(1)), 0, 0, World())])
    assert not codecs.section(Source.read(tmp_path / "bare")).tables


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"rest@rust,": "grpc@rust,"}, "cannot time the codec of petclinic"),
        (
            {"{operation: ListOwners}": "{name: a, mix: [{operation: ListOwners}]}"},
            "a single operation",
        ),
    ],
)
def test_codec_times_that_cannot_be_measured_are_refused_before_any_start(
    changed: dict[str, str], reason: str
) -> None:
    text = EXPERIMENT
    for old, new in changed.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(ExperimentError, match=reason):
        _schedule(text)


def test_a_text_is_not_a_message_of_a_codec() -> None:
    text = EXPERIMENT.replace("ListOwners", "Hello, bytes: 14 B").replace("protobuf", "text")
    lines = [line for line in text.splitlines() if not line.startswith("prepare")]
    with pytest.raises(ExperimentError, match="cannot time the codec of transfer"):
        _schedule("\n".join(lines))


def test_experiments_without_codec_times_keep_their_digest() -> None:
    experiment = experiment_file.parse(EXPERIMENT)
    plain = experiment.model_copy(update={"codec_times": False})
    assert plain.digest() != experiment.digest()
    assert "codec_times" not in Settings().configuration(Stack.parse(REST))


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_service_times_the_bytes_that_it_sent(tmp_path: Path) -> None:
    stack, interruption = Stack.parse("rest@rust"), Interruption()
    program = Programs(manifests.load()).program(stack, interruption)
    configuration = Settings(codec_times=True).configuration(stack)
    with Service(
        program, configuration, ProcessOptions(log=tmp_path / "log"), interruption=interruption
    ) as service:
        with pytest.raises(TrialFailed, match="no reply of that operation is kept"):
            service.codec_times("Hello", 0.01)
        host, _, port = service.ready.address.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port))
        connection.request("GET", "/transfer/hello")
        body = connection.getresponse().read()
        connection.close()
        times = service.codec_times("Hello", 0.01)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(to_json(times))
    assert (times.bytes, times.sha256) == (len(body), hashlib.sha256(body).hexdigest())


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_a_run_times_the_codec_of_each_trial(tmp_path: Path) -> None:
    out = tmp_path / "run"
    run = running.run(experiment_file.parse(EXPERIMENT), out, source=EXPERIMENT, unverified=True)
    found = {}
    for one in run.trials:
        assert one.status == "measured", one.reason
        kept = one.service.codec
        assert kept is not None
        assert kept.operation == "ListOwners"
        assert (out / "trials" / one.id / "codec-times.json").is_file()
        found[one.point.axes.codec] = kept
    assert found["json"].bytes > 60 * found["protobuf"].bytes / 35 > 0
    assert found["json"].decode_ns > found["protobuf"].decode_ns > 0
