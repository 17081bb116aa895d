"""Experiment files: what is read, and what is said of mistakes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import BaseModel, ValidationError

from wirelab import checkout
from wirelab.cli import main
from wirelab.documents.plan import Window, WindowCalls
from wirelab.errors import ExperimentError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment import yaml_source as documents
from wirelab.experiment.model import Experiment
from wirelab.experiment.yaml_model import BRANCHES, explain
from wirelab.records.load import LoadRecord
from wirelab.stack.reference import Stack

PLAIN = """\
name: plain
services: [rest@rust, grpc@rust]
messages:
  - {operation: Hello, bytes: 150 kB}
loads:
  - closed: {users: 10, think: 5 ms}
window: {duration: 2 s}
"""


def _change(old: str, new: str) -> str:
    assert old in PLAIN
    return PLAIN.replace(old, new)


def test_units_are_read_and_defaults_filled_in() -> None:
    experiment = experiment_file.parse(PLAIN)
    assert experiment.messages[0].bytes == 150_000
    assert experiment.loads[0].point() == LoadRecord(kind="closed", users=10, think_s=0.005)
    assert experiment.window.plan_for_size(14) == Window(duration_s=2.0)
    assert experiment.placement == ("pinned",)
    assert experiment.repeats == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_change("users: 10", "usrs: 10"), "x:6: loads[0].closed.usrs: unknown key. Did you mean"),
        (_change("messages:", "mesages:"), "x:3: mesages: unknown key. Did you mean 'messages'?"),
        (_change("150 kB", "150"), "x:4: messages[0].bytes: 150 has no unit"),
        (_change("Hello,", "Hallo,"), "Did you mean 'Hello'?"),
        (_change("grpc@rust", "'grpc@rust?codec=text'"), "x:2: services[1]: 'grpc@rust?"),
        (_change("name: plain", "name: Plain!"), "x:1: name:"),
        (_change("{duration: 2 s}", "{duration: 2 s, calls: 5}"), "either duration or calls"),
        (
            _change("{duration: 2 s}", "{calls: {14 B: 5}}"),
            "window.calls must list exactly the sizes",
        ),
        (_change("{duration: 2 s}", "{calls: {14 bytes: 5}}"), "unknown unit 'bytes'"),
        (_change("{duration: 2 s}", "{calls: 0}"), "x:7: window.calls"),
        (PLAIN + "repeats: 0\n", "x:8: repeats:"),
        (PLAIN + "repeats: true\n", "x:8: repeats: expected a number, got true"),
        (PLAIN + "repeats: ٢\n", "x:8: repeats: expected a whole number, got '٢'"),
        (PLAIN + "placement: {service: [true]}\n", "x:8: placement"),
        (PLAIN + "timeout: 0 s\n", "x:8: timeout: 0 s: it must be longer than 0 s"),
        (PLAIN + "drain: 0 ms\n", "x:8: drain: 0 ms: it must be longer than 0 s"),
        (PLAIN + "timeout: ٢ s\n", "x:8: timeout: '٢ s' is not a time"),
        (
            _change("{duration: 2 s}", "{duration: 1000000001 ms}"),
            "window.duration: 1000000001 ms is longer than 1,000,000 s, the longest time",
        ),
        (
            PLAIN + "allow_targets: [a.test, 0.0.0.0/0]\n",
            "x:8: allow_targets[1]: '0.0.0.0/0' is not",
        ),
        (PLAIN + "warmup: 200 ms\n", "x:8: warmup: takes a table: {min: 200 ms}"),
        (_change("{duration: 2 s}", "3"), "window: takes a table: {duration: …}"),
        (PLAIN + "collector: go\n", "x:8: collector: takes a table: {name: value}"),
        (PLAIN + "allow_targets: a.test\n", "x:8: allow_targets: takes a list: [first, second]"),
        (PLAIN + "name: again\n", "x:8: name: duplicate key: remove one"),
        (PLAIN + "axes: {codek: [text]}\n", "Did you mean 'codec'?"),
        (PLAIN + "axes: {codec: text}\n", "needs a list of values"),
        (PLAIN + "placement: {servise: [0]}\n", "Did you mean 'service'?"),
        (PLAIN + "placement: pined\n", "Did you mean 'pinned'?"),
        (PLAIN + "warmup: {min: 2 s, max: 1 s}\n", "min must not be longer than max"),
        (
            PLAIN + "warmup: {by_language: {java: {min: 9 s}}}\n",
            "x:8: warmup.by_language.java: min must not be longer than max",
        ),
        (PLAIN + "faults: {wrong: {every: 10, what: smell}}\n", "x:8: faults.wrong.what"),
        (_change("  - closed: {users: 10, think: 5 ms}\n", "  []\n"), "x:5: loads:"),
        (
            _change("[rest@rust, grpc@rust]", "\n  - rest@rust\n  - grpc@rust\n  - rest@rust"),
            "x:5: services[2]: the same as services[0] in line 3; remove one",
        ),
        (
            _change("[rest@rust, grpc@rust]", "\n  - rest@rust\n  - 'rest@rust?codec=json'"),
            "x:4: services[1]: the same as services[0] in line 3, spelled differently; remove one",
        ),
        (
            PLAIN + "axes: {codec: [text, json, text]}\n",
            "x:8: axes.codec[2]: the same as axes.codec[0] in line 8; remove one",
        ),
        (
            _change("bytes: 150 kB}", "bytes: 150 kB}\n  - {operation: Hello, bytes: 0.15 MB}"),
            "x:5: messages[1]: the same as messages[0] in line 4, spelled differently",
        ),
        (
            _change("  - closed: {users: 10, think: 5 ms}\n", "  - poisson: {rate: .inf}\n"),
            "x:6: loads[0].poisson.rate: should be a finite number",
        ),
        (PLAIN + "links: []\n", "x:8: links: the list is empty: add at least one entry"),
        (PLAIN + "links: [lan, lan]\n", "two links are named lan: remove one"),
        (
            PLAIN + "links: [{name: a, both: {delay_ms: .inf}}]\n",
            "x:8: links[0].both.delay_ms: should be a finite number",
        ),
        (
            PLAIN + "links: [{name: a, both: {loss: {kind: gilbert}}}]\n",
            "loss: kind: 'gilbert' is not a valid value. Did you mean 'gilbert-elliott'?",
        ),
        (
            PLAIN + "capture: [none, client, none]\n",
            "x:8: capture[2]: the same as capture[0] in line 8; remove one",
        ),
        (
            PLAIN + "placement: [pinned, {service: [0]}, {service: [0]}]\n",
            "x:8: placement[2]: the same as placement[1] in line 8; remove one",
        ),
        (
            PLAIN + "links:\n  - name: a\n    both:\n      delay_ms: -3\n",
            "x:11: links[0].both.delay_ms: should be greater than or equal to 0, got -3",
        ),
        (
            PLAIN + "links: [{name: a, both: {loss: {kind: random, percent: 120}}}]\n",
            "loss.percent: should be less than or equal to 100, got 120",
        ),
        (
            PLAIN + "links: [{name: a, both: {rate_kbit: 0}}]\n",
            "x:8: links[0].both.rate_kbit: should be greater than or equal to 0.1, got 0",
        ),
        (
            PLAIN + "links: [{name: a, both: {delay_ms: 4, jitter_ms: 2, distribution: normal}}]\n",
            "arrive 4 ms before it was sent: use up to 1, or increase delay_ms",
        ),
        ("name: [", "not YAML"),
        ("", "the file is empty"),
        ("- a\n- b\n", "a mapping with keys"),
        ("a: &x [*x]\n", "x:1:"),
    ],
)
def test_a_mistake_is_reported_with_its_line_its_key_and_the_remedy(text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as caught:
        experiment_file.parse(text, "x")
    assert said in str(caught.value)


def test_a_language_without_services_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(PLAIN + "warmup:\n  by_language: {jva: {}}\ncollector: {}\n")
    with pytest.raises(ExperimentError) as caught:
        experiment_file.load(path)
    assert "x.yaml:9: warmup.by_language.jva: there are no services in 'jva'" in str(caught.value)
    assert "Did you mean 'java'?" in str(caught.value)


def test_services_in_a_language_can_have_a_warm_up_of_their_own() -> None:
    experiment = experiment_file.parse(
        PLAIN + "warmup: {min: 1 s, by_language: {java: {min: 9 s, max: 9 s}}}\n"
    )
    load = experiment.loads[0]
    bounds = [
        experiment.warmup_of(load, Stack.parse(f"rest@{language}?start={start}").axes)
        for language, start in [("rust", "warm"), ("java", "warm"), ("java", "cold")]
    ]
    assert [(one.min, one.max) for one in bounds] == [(1.0, 5.0), (9.0, 9.0), (0.0, 0.0)]


def test_all_mistakes_are_reported_at_once() -> None:
    text = _change("users: 10", "usrs: 10").replace("150 kB", "150")
    with pytest.raises(ExperimentError) as caught:
        experiment_file.parse(text)
    assert len(caught.value.problems) == 3


def test_an_alias_bomb_is_refused() -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(ExperimentError, match="too large"):
        experiment_file.parse("\n".join(levels))


@pytest.mark.parametrize("depth", [1_200, 100_000])
def test_lists_within_lists_are_refused(depth: int) -> None:
    with pytest.raises(ExperimentError, match="too deeply nested"):
        experiment_file.parse("[" * depth)


@pytest.mark.parametrize("opened", ["- ", "{a: ", "? ", "[{b: "])
def test_nothing_nests_deeper_than_can_be_read(opened: str) -> None:
    """libyaml's own composer calls itself for each level, and would run out of stack."""
    with pytest.raises(ExperimentError, match="too deeply nested"):
        experiment_file.parse(opened * 100_000)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: &x [*x]\n", "x:1: the alias *x refers to a node that contains it"),
        ("a: &x {b: [*x]}\n", "x:1: the alias *x refers to a node that contains it"),
        ("a: 1\nb: *y\n", "x:2: not YAML: the anchor &y is not defined before this alias"),
        (PLAIN + "---\nname: b\n", "x:8: the file contains a second YAML document: keep only one"),
        ("[a]: 1\n", "x:1: the file: a key must be a single word"),
        ("name: !!python/name:os.system x\n", "x:1: name: could not determine a constructor"),
    ],
)
def test_yaml_that_an_experiment_does_not_allow_is_refused(text: str, said: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        experiment_file.parse(text, "x")
    assert said in str(refused.value)


def test_both_readers_of_yaml_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """libyaml, and PyYAML's own where it was built without."""
    text = (
        PLAIN
        + "about: &a >-\n  two\n  lines\nx: [*a, 1, 1.5, ~, true, on, '1', !!str 2, 2020-01-01]\n"
    )
    fast = documents.read(text, "x")

    class Slow(yaml.SafeLoader):
        yaml_implicit_resolvers = documents._Loader.yaml_implicit_resolvers

    monkeypatch.setattr(documents, "_Loader", Slow)
    slow = documents.read(text, "x")
    assert fast.values["x"] == ["two lines", 1, 1.5, None, True, "on", "1", "2", "2020-01-01"]
    assert (fast.values, fast.lines) == (slow.values, slow.lines)


def test_a_file_of_megabytes_is_read_in_time_that_grows_with_it() -> None:
    """What is named twice is found among 25,000 messages. Each against each took minutes."""
    many = "".join(f"  - {{operation: Hello, bytes: {size} B}}\n" for size in range(1, 25_000))
    text = PLAIN.replace("messages:\n", f"messages:\n{many}  - {{operation: Hello, bytes: 7 B}}\n")
    began = time.process_time()
    with pytest.raises(ExperimentError, match=r"messages\[24999\]: the same as messages\[6\]"):
        experiment_file.parse(text)
    assert time.process_time() - began < 30.0


def test_thousands_of_problems_are_counted_and_the_first_are_listed() -> None:
    text = PLAIN + "".join(f"key{number}: 1\n" for number in range(10_000))
    with pytest.raises(ExperimentError) as refused:
        experiment_file.parse(text, "x")
    assert len(refused.value.problems) == 101
    assert refused.value.problems[0].startswith("x:8: key0: unknown key")
    assert "9,900 problems more" in refused.value.problems[-1]


def test_on_and_off_stay_words() -> None:
    experiment = experiment_file.parse(PLAIN + "axes: {client.nagle: [on, off]}\n")
    assert experiment.axes == {"client.nagle": ("on", "off")}


def test_calls_may_differ_by_message() -> None:
    text = _change("{duration: 2 s}", "{calls: {150000 B: 500}, max: 9 s}")
    window = experiment_file.parse(text).window
    assert window.plan_for_size(150_000) == Window(calls=WindowCalls(calls=500, max_s=9.0))


def test_comments_do_not_change_the_digest_and_seeds_do() -> None:
    plain = experiment_file.parse(PLAIN).digest()
    assert experiment_file.parse("# remark\n" + PLAIN).digest() == plain
    assert experiment_file.parse(PLAIN + "about: why\n").digest() == plain
    assert experiment_file.parse(PLAIN + "seed: 2\n").digest() != plain


def test_preparations_are_of_the_messages_contract() -> None:
    text = _change("{operation: Hello, bytes: 150 kB}", "{operation: ListOwners}")
    prepare = "prepare: [{operation: AddOwner, calls: 1000}]\n"
    experiment = experiment_file.parse(text + prepare)
    assert experiment.prepare[0].calls == 1000
    assert experiment.digest() != experiment_file.parse(text).digest()
    with pytest.raises(ExperimentError, match=r"prepare\[0\]: AddOwner is of contract petclinic"):
        experiment_file.parse(PLAIN + prepare)
    with pytest.raises(ExperimentError, match=r"prepare\[0\].calls: .*greater than or equal to 1"):
        experiment_file.parse(text + prepare.replace("1000", "0"))


def test_the_committed_schema_is_fresh() -> None:
    assert experiment_file.SCHEMA.read_text() == experiment_file.schema_text()


@pytest.mark.parametrize("path", sorted((checkout.root() / "experiments").glob("*.yaml")), ids=str)
def test_experiments_to_copy_are_legal_by_model_and_by_schema(path: Path) -> None:
    assert isinstance(experiment_file.load(path), Experiment)
    document = yaml.safe_load(path.read_text())
    jsonschema.validate(document, json.loads(experiment_file.schema_text()))


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("grpc@rust", "rest@cobol", "'rest@cobol' does not match"),
        ("grpc@rust", "rpc@rust", "'rpc@rust' does not match"),
        ("operation: Hello", "operation: Helo", "'Helo' is not one of ['"),
        ("operation: Hello", "operation: Hello, pathh: /a", "'pathh' was unexpected"),
    ],
)
def test_the_schema_names_what_is_misspelt(old: str, new: str, problem: str) -> None:
    document = yaml.safe_load(PLAIN)
    schema = json.loads(experiment_file.schema_text())
    jsonschema.validate(document, schema)
    wrong = yaml.safe_load(_change(old, new))
    (error,) = jsonschema.Draft202012Validator(schema).iter_errors(wrong)
    assert problem in error.message
    assert "any of the given schemas" not in error.message


def test_the_schema_knows_messages_of_own_services_by_their_keys() -> None:
    own = "{name: a, path: /a, method: 7}"
    document = yaml.safe_load(_change("{operation: Hello", f"{own}\n  - {{operation: Hello"))
    schema = json.loads(experiment_file.schema_text())
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    assert errors
    assert {tuple(error.absolute_path)[:3] for error in errors} == {("messages", 0, "method")}


def test_a_service_in_an_unknown_language_is_reported_with_its_line(tmp_path: Path) -> None:
    """Unless illegal combinations are to be left out: then it is one of them."""
    file = tmp_path / "x.yaml"
    file.write_text(_change("grpc@rust", "grpc@ruts"))
    said = r"x\.yaml:2: services\[1\]: grpc@ruts: there are no services in 'ruts'. Did you mean"
    with pytest.raises(ExperimentError, match=said):
        experiment_file.load(file)
    file.write_text(file.read_text() + "skip_illegal: true\n")
    assert experiment_file.load(file).skip_illegal


def test_an_impossible_combination_is_reported_at_its_key(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    wrong = _change("Hello, bytes: 150 kB", "Download, bytes: 14 B")
    file.write_text(wrong + "axes: {codec: [json, cdr]}\n")
    with pytest.raises(ExperimentError) as refused:
        experiment_file.load(file)
    shown = "\n".join(refused.value.problems)
    assert f"{file}:4: messages[0]: rest@rust: Download is not available with rest" in shown
    assert f"{file}:8: axes: 'grpc@rust?codec=json' cannot exist" in shown
    assert "skip_illegal: true" in refused.value.problems[-1]
    # A stack that exists with the axis as it is, and one that does not exist anyway.
    axes = "axes: {transport: [http/1.0], connection: [close]}\n"
    for service, said in (("rest@java", ":8: axes"), ("rest@rust?codec=cdr", ":2: services[1]")):
        file.write_text(_change("grpc@rust", f'"{service}"') + axes)
        with pytest.raises(ExperimentError) as refused:
            experiment_file.load(file)
        assert said in str(refused.value)


def test_the_demo_has_the_trials_that_were_promised() -> None:
    folder = Path(experiment_file.__file__).parents[1] / "experiments"
    demo = experiment_file.load(folder / "demo.yaml")
    combinations = len(demo.services) * len(demo.messages) * len(demo.loads)
    assert combinations * demo.repeats == 48
    quick = experiment_file.load(folder / "demo-quick.yaml")
    combinations = len(quick.services) * len(quick.messages) * len(quick.loads)
    assert combinations * quick.repeats == 8


def _models(base: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    for model in base.__subclasses__():
        if model.__module__.startswith("wirelab."):
            yield model
        yield from _models(model)


def _messages_of_bad_values(model: type[BaseModel]) -> Iterator[str]:
    bad_values: list[object] = [5, "x", [1], [[1]], None, True, {"no such key": 1}, [{}], object()]
    given: list[object] = [*bad_values]
    given += [{field.alias or name: bad} for name, field in model.model_fields.items()
              for bad in bad_values]  # fmt: skip
    for value in given:
        try:
            model.model_validate(value)
        except ValidationError as error:
            for details in error.errors():
                path = tuple(part for part in details["loc"] if part not in BRANCHES)
                yield explain({**details, "input": 0}, path, model)
        except (KeyError, TypeError, AttributeError):
            continue  # of a validator that takes a whole document


def test_no_message_names_a_class() -> None:
    import wirelab.study.model  # noqa: F401  # so that its models are there

    models = list(_models())
    assert {"Experiment", "Warmup", "Load", "ExternalService"} <= {one.__name__ for one in models}
    names = {one.__name__ for one in models}
    for model in models:
        for message in _messages_of_bad_values(model):
            assert "instance of" not in message, f"{model.__name__}: {message}"
            assert "dictionary" not in message, f"{model.__name__}: {message}"
            words = set(re.findall(r"\w+", message))
            assert not names & words, f"{model.__name__}: {message}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "No such file or directory"), (b"", "Is a directory"), (b"\xd5\x00", "not UTF-8 text")],
)
def test_run_refuses_a_file_that_cannot_be_read(
    content: bytes | None, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.yaml"
    if content:
        file.write_bytes(content)
    elif content is not None:
        file.mkdir()
    assert main(["run", str(file), "--out", str(tmp_path / "out")]) == 2
    assert reason in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
