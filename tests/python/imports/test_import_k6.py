"""``wirelab import k6``: the requests and the load of a script, which is read and never run."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.python.importing import (
    CPU_S_MAX,
    FILES,
    MEMORY_MIB_MAX,
    Done,
    Importer,
    measure_cost,
)
from tests.python.importing import importer as importer
from tests.python.logging_server import serve
from wirelab import installation
from wirelab.cli import main
from wirelab.imports import k6_syntax

SHOP = FILES / "shop.js"
HTTP = "import http from 'k6/http';\n"
URL = "'http://127.0.0.1:8096/a'"
ONE = f"export default function () {{ http.get({URL}); }}\n"
TICK = "`"


@pytest.fixture
def imported(importer: Importer, tmp_path: Path) -> Any:
    """Imports a script that is given as text."""

    def read(text: str, *words: str) -> Done:
        path = tmp_path / "script.js"
        path.write_text(text, encoding="utf-8")
        return importer("k6", path, "--force", *words)

    return read


def _body(*statements: str) -> str:
    """A script whose default function has the statements, each in a line from 3 on."""
    return f"{HTTP}export default function () {{\n" + "\n".join(statements) + "\n}\n"


def test_a_script_is_one_message_with_its_requests_in_order(importer: Importer) -> None:
    done = importer("k6", SHOP)
    assert done.code == 0, done.err
    assert done.content["services"][0]["url"] == "http://127.0.0.1:8096"
    (message,) = done.content["messages"]
    assert message["name"] == "buyers"
    steps = [
        {key: step[key] for key in ("method", "path", "body", "json") if key in step}
        for step in message["steps"]
    ]
    order = {"book": "Emma ü", "count": 2, "lines": [1, 2.5, None, True]}
    assert steps == [
        {"method": "GET", "path": "/v1/books?q=a%20b&limit=5"},
        {"method": "POST", "path": "/orders", "json": order},
        {"method": "PUT", "path": "/pay", "body": "card=visa&note=in+time"},
        {"method": "PATCH", "path": "/pay/1", "body": "a\tbA"},
        {"method": "DELETE", "path": "/orders/1"},
        {"method": "DELETE", "path": "/orders/2"},
        {"method": "HEAD", "path": "/stock"},
    ]
    assert message["steps"][1]["name"] == "order"
    assert message["steps"][4]["headers"] == {"X-Why": "it's late"}
    assert done.content["loads"] == [{"closed": {"users": 2, "iterations": 3, "think": "0.03 s"}}]
    assert done.content["window"] == {"calls": 6, "max": "600 s"}


def test_another_scenario_is_named_and_taken_instead(importer: Importer) -> None:
    done = importer("k6", SHOP)
    assert "shop.js:18: 'clerks': its users have a load of their own" in done.out
    done = importer("k6", SHOP, "--only", "clerks", "--force")
    stages = [{"target": 10, "duration": "90 s"}, {"target": 0, "duration": "0.5 s"}]
    load = {"start_rate": 1, "stages": stages, "in_flight_max": 20}
    assert done.content["loads"] == [{"ramping": load}]
    assert list(done.messages) == ["get-stock"]


def test_an_option_that_changes_no_request_is_noted_with_its_line(importer: Importer) -> None:
    done = importer("k6", SHOP)
    for line, what in ((11, "options.thresholds"), (35, "check"), (40, "check"),
                       (53, "handleSummary")):  # fmt: skip
        assert f"shop.js:{line}: {what}: " in done.out
    assert "__ENV.BASE_URL has its default, http://127.0.0.1:8096." in done.text
    assert "abcdef0123456789" not in done.text + done.out
    assert "header authorization" in done.out


RATE = "executor: 'constant-arrival-rate', rate: 30, timeUnit: '1m', duration: '2m'"
RAMP = "executor: 'ramping-vus', startVUs: 0, stages: [{ target: 5, duration: '2s' }]"
EACH = "executor: 'per-vu-iterations', vus: 2, iterations: 3"
SHARED = "executor: 'shared-iterations', vus: 2, iterations: 10"
LOADS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "vus and duration": (
        "{ vus: 10, duration: '1m30s' }", {"closed": {"users": 10}}, {"duration": "90 s"}),
    "milliseconds": ("{ vus: 1, duration: 2500 }", {"closed": {"users": 1}}, {"duration": "2.5 s"}),
    "iterations": ("{ vus: 4, iterations: 100 }", {"closed": {"users": 4}},
                   {"calls": 100, "max": "600 s"}),
    "nothing": ("{}", {"closed": {"users": 1, "iterations": 1}}, {"calls": 1, "max": "600 s"}),
    "stages": (
        "{ stages: [{ duration: '30s', target: 20 }, { duration: '1m', target: 0 }] }",
        {"closed": {"stages": [{"target": 1, "duration": "0 s"}, {"target": 20, "duration": "30 s"},
                               {"target": 0, "duration": "60 s"}]}},
        {"duration": "90 s"},
    ),
    "ramping-vus": (
        f"{{ scenarios: {{ s: {{ {RAMP}, gracefulRampDown: '0s' }} }} }}",
        {"closed": {"stages": [{"target": 5, "duration": "2 s"}]}},
        {"duration": "2 s"},
    ),
    "constant-arrival-rate": (
        f"{{ scenarios: {{ s: {{ {RATE}, preAllocatedVUs: 7 }} }} }}",
        {"constant": {"rate": 0.5, "in_flight_max": 7}},
        {"duration": "120 s"},
    ),
    "shared-iterations": (
        f"{{ scenarios: {{ s: {{ {SHARED}, maxDuration: '5s' }} }} }}",
        {"closed": {"users": 2}},
        {"calls": 10, "max": "5 s"},
    ),
    "per-vu-iterations": (
        f"{{ scenarios: {{ s: {{ {EACH}, maxDuration: '5s' }} }} }}",
        {"closed": {"users": 2, "iterations": 3}},
        {"calls": 6, "max": "5 s"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LOADS)
def test_options_are_the_load(imported: Any, case: str) -> None:
    options, load, window = LOADS[case]
    done = imported(f"{HTTP}export const options = {options};\n{ONE}")
    assert done.code == 0, done.err
    assert done.content["loads"] == [load]
    assert done.content["window"] == window


@pytest.mark.parametrize(
    ("script", "name", "line"),
    [
        (_body(f"for (let i = 0; i < 3; i++) {{ http.get({URL}); }}"), "for statement", 3),
        (_body(f"if (x) {{ http.get({URL}); }}"), "if statement", 3),
        (_body("", "http.get(url);"), "url, which is not a constant", 4),
        (_body(f"const res = http.get({URL});", "const id = res.json('id');"),
         "a call of res.json", 4),
        (_body(f"http.get({TICK}http://127.0.0.1/${{Math.random()}}{TICK});"),
         "a call of Math.random", 3),
        (_body(f"http.get({TICK}http://127.0.0.1/${{__VU}}{TICK});"), "__VU, which is not", 3),
        (_body("http.get(__ENV.URL);"), "__ENV.URL without a default", 3),
        (_body("http.batch([]);"), "http.batch", 3),
        (_body(f"http.get({URL}, {{ cookies: {{ a: 'b' }} }});"), "the parameter cookies", 3),
        (_body(f"http.post({URL}, open('a.bin'));"), "a call of open", 3),
        (_body(f"http.post({URL}, [1]);"), "content that is neither a text nor an object", 3),
        (_body("http.get('ftp://127.0.0.1/');"), "only http and https are measured", 3),
        (_body("http.get('http://127.0.0.1/${x}');"), "${…} in a text that is not a template", 3),
        (_body(f"let r; r = http.get({URL});"), "variable declarator", 3),
        (_body(f"await http.get({URL});").replace("function", "async function"),
         "await expression", 3),
        (_body(f"http.get({URL});", "sleep(1);"), "a call of sleep", 4),
        (f"import x from 'https://example.org/x.js';\n{HTTP}{ONE}", "an import of https://", 1),
        (f"{HTTP}export const options = {{ vus: 1, hosts: {{}} }};\n{ONE}", "options.hosts", 2),
        (f"{HTTP}export const options = {{ vus: '1', duration: '1s' }};\n{ONE}",
         "vus is not a number", 2),
        (f"{HTTP}export const options = {{ duration: 'soon' }};\n{ONE}",
         "duration is not a time", 2),
        (f"{HTTP}export const options = {{ scenarios: {{ s: {{ executor: 'none' }} }} }};\n{ONE}",
         "the executor none", 2),
        (f"{HTTP}export function setup() {{}}\n{ONE}", "the function setup", 2),
        (f"{HTTP}class A {{}}\n{ONE}", "class declaration", 2),
        (f"{HTTP}while (true) {{}}\n{ONE}", "while statement", 2),
        (_body("http.get({a: 1}, 2, 3);"), "without a text as its URL", 3),
        (_body(f"http.post({URL}, JSON.stringify([1,, 2]));"), "a list with an empty place", 3),
        (_body(f"http.post({URL}, JSON.stringify({{ a: undefined }}));"), "undefined", 3),
        (_body(f"http.post({URL}, JSON.stringify({{ '\\ud83d': 1 }}));"), "half a character", 3),
        (f"{HTTP}export const {{ a }} = 1;\n{ONE}", "object pattern", 2),
    ],
)  # fmt: skip
def test_a_construct_that_is_not_understood_is_refused_by_its_line(
    imported: Any, script: str, name: str, line: int
) -> None:
    imported(script).check_refusal(f"script.js:{line}: ", name)


def test_every_refused_line_is_named(imported: Any) -> None:
    done = imported(_body("if (x) {}", f"http.get({URL});", "for (;;) {}"))
    done.check_refusal("script.js:3: if statement", "script.js:5: for statement")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"'a\'\n\u0041\u{1F600}\x41\
b'", "a'\nA\U0001f600Ab"),
        ("`a${1 + 2}b${'c'}`", "a3bc"),
        ("'a' + 1 + 2.50", "a12.5"),
        ("`${0.1 + 0.2}`", "0.30000000000000004"),
        ("`${60 * 2}${6 / 4}${0x10}${1_000}${-1}${1e21}${1e-7}`", "1201.5161000-11e+211e-7"),
        ("'\\ud83d\\ude00'", "\U0001f600"),
        ("JSON.stringify({ a: [1, 'x', null, true], 'b c': { d: 1.5 } })",
         '{"a":[1,"x",null,true],"b c":{"d":1.5}}'),
        ("encodeURIComponent('a b/ü')", "a%20b%2F%C3%BC"),
        ("list[1].name", "n"),
        ("null || 'b'", "b"),
        ("`${'' || 'b'}${'' ?? 'c'}${0 ?? 1}${null ?? 2}`", "b02"),
        ("JSON.stringify([[] || 1, {} || 2])", "[[],{}]"),
        ("JSON.stringify({ '\\ud83d\\ude00': 1 })", '{"\U0001f600":1}'),
    ],
)  # fmt: skip
def test_literals_have_their_value(imported: Any, expression: str, text: str) -> None:
    """As ECMA-262 has it."""
    post = f"http.post({URL}, {expression}, {{ headers: {{ 'content-type': 'text/plain' }} }})"
    script = f"{HTTP}const list = [0, {{ name: 'n' }}];\nexport default () => {post};\n"
    done = imported(script)
    assert done.code == 0, done.err
    (message,) = done.messages.values()
    assert message["body"] == text


HOSTILE = {
    "a large file": ("//" + "x" * 10 * 1024 * 1024, "limit file"),
    "NUL bytes": (f"{HTTP}\0{ONE}", "script.js:2: it has a NUL"),
    "no JavaScript": ("<?xml version='1.0'?>\n<a/>", "script.js:1: not JavaScript"),
    "an error in line 3": (f"{HTTP}\nconst a = ;\n{ONE}", "script.js:3: not JavaScript"),
    "an empty file": ("", "function default is not exported"),
    "many levels": (f"{HTTP}const a = {'[' * 50_000}{']' * 50_000};\n{ONE}", "100 levels"),
    "many open brackets": ("(" * 500_000, "script.js"),
    "many templates": (_body("http.get(" + "`${" * 50_000), "script.js"),
    "a long sum": (f"{HTTP}const a = {'1 + ' * 100_000}1;\n{ONE}", "more than 100 levels"),
    "texts that double": (
        "const a0 = 'x';\n" + "".join(f"const a{n} = a{n - 1} + a{n - 1};\n" for n in range(1, 60))
        + HTTP + ONE,
        "limit steps",
    ),
    "objects that double": (
        "const a0 = [1, 1];\n"
        + "".join(f"const a{n} = [a{n - 1}, a{n - 1}];\n" for n in range(1, 60))
        + _body(f"http.post({URL}, JSON.stringify(a59));"),
        "(limit ",
    ),
    "many groups within each other": (
        f"import {{ group }} from 'k6';\n{HTTP}export default () => "
        + "group('a', () => " * 400 + f"http.get({URL})" + ")" * 400 + ";",
        "more than 20 groups",
    ),
    "many groups with many constants": (
        "import { group } from 'k6';\n" + "".join(f"const a{n}=1;" for n in range(10_000))
        + _body("group('a',()=>{});" * 5_000),
        "limit steps",
    ),
    "many scenarios of a long function": (
        "import { sleep } from 'k6';\nexport const options = { scenarios: {"
        + "".join(f"a{n}:{{executor:'per-vu-iterations'}}," for n in range(1_000))
        + "} };\n" + _body("sleep(1);" * 5_000, f"http.get({URL});"),
        "limit steps",
    ),
    "many requests": (_body(*[f"http.get({URL});"] * 101), "more than 100"),
    "a number that is not finite": (_body(f"http.get({URL} + 1e999);"), "the number 1e999"),
    "no request": (f"{HTTP}export default function () {{}}\n", "there is no operation"),
}  # fmt: skip
"""A script, and a part of the message that refuses it."""


@pytest.mark.timeout(20)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_script_is_refused(imported: Any, case: str) -> None:
    script, reason = HOSTILE[case]
    imported(script).check_refusal(reason)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_refusal_takes_two_seconds_and_200_mib_at_most(tmp_path: Path, case: str) -> None:
    """The bound is of the processor's time: the machine may have other work."""
    (tmp_path / "script.js").write_text(HOSTILE[case][0])
    code, cpu_s, memory_mib = measure_cost(tmp_path, "k6", "script.js")
    assert code == 2
    assert cpu_s < CPU_S_MAX
    assert memory_mib < MEMORY_MIB_MAX


def test_a_script_that_takes_long_to_parse_is_given_up(
    imported: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(k6_syntax, "PARSE_S_MAX", 0.0)
    imported(_body(*[f"http.get({URL});"] * 20_000)).check_refusal("limit steps")


def test_without_a_parser_the_command_names_it(
    importer: Importer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    importer("k6", SHOP).check_refusal(
        "tree-sitter, which is not installed", installation.extra("k6")
    )


def test_nothing_of_a_script_is_run(imported: Any, tmp_path: Path) -> None:
    made = tmp_path / "made"
    script = f"{HTTP}import fs from 'fs';\nfs.writeFileSync('{made}', 'x');\n{ONE}"
    imported(script).check_refusal("an import of fs", "script.js:3: expression statement")
    assert not made.exists()


def test_a_script_for_another_machine_needs_a_bound(imported: Any) -> None:
    script = f"{HTTP}export const options = {{ vus: 9, duration: '1s' }};\n{ONE}"
    script = script.replace("127.0.0.1", "192.0.2.1")
    assert imported(script).content["services"][0]["url"] == "http://127.0.0.1:8096"
    done = imported(script, "--any-target")
    assert done.content["loads"] == [{"constant": {"rate": 10, "in_flight_max": 4}}]
    assert "The load of the script is left out" in done.text


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_requests_of_a_script_are_sent_as_it_has_them(
    importer: Importer, tmp_path: Path
) -> None:
    with serve() as log:
        script = tmp_path / "shop.js"
        script.write_text(SHOP.read_text().replace(":8096", f":{log.port}"))
        done = importer("k6", script, "--out", "shop.yaml")
        assert done.code == 0, done.err
        assert main(["run", "shop.yaml", "--plan"]) == 0
        written = importer.folder / "shop.yaml"
        written.write_text(written.read_text() + "repeats: 1\n")
        log.requests.clear()
        code = main(["run", "shop.yaml", "--out", "results"])
    trial = json.loads((importer.folder / "results" / "trials.jsonl").read_text().splitlines()[0])
    (cell,) = trial["cells"]
    assert code in (0, 5)
    assert cell["result"]["errors"] == 0
    sent = Counter((one.method, one.path, one.body) for one in log.requests)
    order = '{"book":"Emma ü","count":2,"lines":[1,2.5,null,true]}'
    assert sent == dict.fromkeys(
        [
            ("GET", "/v1/books?q=a%20b&limit=5", ""),
            ("POST", "/orders", order),
            ("PUT", "/pay", "card=visa&note=in+time"),
            ("PATCH", "/pay/1", "a\tbA"),
            ("DELETE", "/orders/1", ""),
            ("DELETE", "/orders/2", ""),
            ("HEAD", "/stock", ""),
        ],
        6,  # 2 users with 3 iterations
    )
    first = {one.path: one.headers for one in log.requests}
    assert first["/orders"]["content-type"] == "application/json"
    assert first["/orders"]["accept"] == "application/json"
    assert first["/pay"]["content-type"] == "application/x-www-form-urlencoded"
    assert first["/orders/1"]["x-why"] == "it's late"
