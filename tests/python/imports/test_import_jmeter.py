"""``wirelab import jmeter``: the requests and the load of a test plan, and what is left out."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

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
from tests.python.logging_server import Received, serve
from wirelab.cli import main
from wirelab.imports import jmx_tree
from wirelab.loadtools import Tools, adapters
from wirelab.process.interruption import Interruption

SHOP = FILES / "shop.jmx"
FORM = {"content-type": "application/x-www-form-urlencoded; charset=UTF-8"}
HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<jmeterTestPlan version="1.2" properties="5.0">\n<hashTree>\n'
)
END = "</hashTree></hashTree></hashTree></jmeterTestPlan>\n"


def _prop(name: str, value: object) -> str:
    return f'<stringProp name="{name}">{escape(str(value))}</stringProp>'


def _sampler(name: str = "get", path: str = "/a", method: str = "GET", more: str = "") -> str:
    properties = {"domain": "127.0.0.1", "port": 8099, "path": path, "method": method}
    inner = "".join(_prop(f"HTTPSampler.{key}", value) for key, value in properties.items())
    kind = '<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy"'
    return f'{kind} testname="{name}">\n{inner}{more}</HTTPSamplerProxy>\n'


def _arguments(*pairs: tuple[str, str], is_encoded: bool = False) -> str:
    listed = "".join(
        f'<elementProp name="{name}" elementType="HTTPArgument">'
        f"{_prop('Argument.name', name)}{_prop('Argument.value', value)}"
        f"{_prop('Argument.metadata', '=')}"
        f'<boolProp name="HTTPArgument.always_encode">{str(is_encoded).lower()}</boolProp>'
        "</elementProp>"
        for name, value in pairs
    )
    collection = f'<collectionProp name="Arguments.arguments">{listed}</collectionProp>'
    kind = '<elementProp name="HTTPsampler.Arguments" elementType="Arguments">'
    return f"{kind}{collection}</elementProp>"


def _plan(
    *elements: str, threads: str = _prop("ThreadGroup.num_threads", 2), variables: str = ""
) -> str:
    """A plan with one thread group."""
    kind = '<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">'
    plan = '<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan">'
    group = f"{variables}</TestPlan><hashTree>\n{kind}{threads}</ThreadGroup>"
    return f"{HEAD}{plan}{group}\n<hashTree>\n{''.join(elements)}{END}"


def _variables(**values: str) -> str:
    return _arguments(*values.items()).replace(
        "HTTPsampler.Arguments", "TestPlan.user_defined_variables"
    )


@pytest.fixture
def imported(importer: Importer, tmp_path: Path) -> Any:
    """Imports a plan that is given as text."""

    def read(text: str, *words: str) -> Done:
        path = tmp_path / "plan.jmx"
        path.write_text(text, encoding="utf-8")
        return importer("jmeter", path, "--force", *words)

    return read


def test_a_plan_is_one_message_with_its_requests_in_order(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    assert done.code == 0, done.err
    assert done.content["name"] == "book-shop"
    assert done.content["services"][0]["url"] == "http://127.0.0.1:8095"
    (message,) = done.content["messages"]
    assert message["name"] == "buyers"
    steps = {step["name"]: step for step in message["steps"]}
    assert list(steps) == ["search", "order", "pay", "cancel"]
    accepts = {"Accept": "application/json"}
    assert steps["search"] == {
        "name": "search", "method": "GET", "path": "/v1/books?q=a+%26+b&limit=5",
        "headers": accepts,
    }  # fmt: skip
    assert steps["order"]["body"] == '{"id": ${ID}, "title": "The ${title}"}'
    assert steps["order"]["headers"] == accepts | {"Content-Type": "application/json"}
    assert steps["pay"]["method"] == "PUT"
    assert steps["pay"]["body"] == "book=${ID}&note=in+time"
    assert steps["pay"]["headers"] == accepts | FORM
    assert steps["cancel"]["path"] == "/orders/${ID}"


def test_rows_without_a_line_of_names_get_one(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    (message,) = done.content["messages"]
    assert message["data"] == {"file": "book-shop.csv"}
    written = (importer.folder / "book-shop.csv").read_text()
    assert written == "ID,title\n1,Red Book\n2,Blue\n"


def test_users_and_loops_are_the_load(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    # Four requests, each after a timer of 5 ms.
    load = {"users": 3, "iterations": 4, "think": "0.02 s"}
    assert done.content["loads"] == [{"closed": load}]
    assert done.content["window"] == {"calls": 12, "max": "600 s"}


def test_another_thread_group_is_named_and_taken_instead(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    assert "'Clerks': its users have a load of their own" in done.out
    done = importer("jmeter", SHOP, "--only", "Clerks", "--force")
    stages = [{"target": 10, "duration": "5 s"}, {"target": 10, "duration": "25 s"}]
    assert done.content["loads"] == [{"closed": {"stages": stages}}]
    assert done.content["window"] == {"duration": "30 s"}
    (message,) = done.content["messages"]
    assert (message["method"], message["path"]) == ("HEAD", "/stock")
    assert "Property clerks has its default, 10." in done.text
    done = importer("jmeter", SHOP, "--only", "*pay*", "--force")
    assert list(done.messages) == ["pay"]


def test_the_option_for_another_thread_group_can_be_pasted_into_a_shell(imported: Any) -> None:
    """Also where its name has a quote and characters of a pattern."""
    text = SHOP.read_text().replace('"Clerks"', '"Bob\'s [1]*"')
    done = imported(text)
    option = re.search(r"`(--only .+)` takes them instead", done.out)
    assert option is not None
    words = shlex.split(option[1])
    assert words == ["--only", "Bob's [[]1][*]"]
    assert list(imported(text, *words).messages) == ["stock"]


def test_each_element_that_is_left_out_is_named_with_its_line(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    lines = SHOP.read_text().splitlines()
    for name, why in (
        ("HTTP Cookie Manager", "cookies of replies are not sent again"),
        ("is 200", "see `expect`"),
        ("Track", "${token} has a value only while JMeter runs"),
    ):
        line = next(n for n, text in enumerate(lines, 1) if f'testname="{name}"' in text)
        (reported,) = [one for one in done.out.splitlines() if f"{name!r}: " in one]
        assert f"shop.jmx:{line}: " in reported
        assert why in reported
        assert why in " ".join(done.text.replace("#", "").split())
    assert "'Old'" not in done.out  # disabled
    assert "View Results" not in done.out  # sends nothing


def test_no_secret_of_a_plan_is_written(importer: Importer) -> None:
    done = importer("jmeter", SHOP)
    assert "abcdef0123456789" in SHOP.read_text()
    assert "abcdef0123456789" not in done.text + done.out
    assert "header authorization" in done.out


@pytest.mark.parametrize(
    ("threads", "load", "window"),
    [
        ({"num_threads": 5, "duration": 7, "scheduler": "true"}, {"users": 5}, "7 s"),
        ({"num_threads": 5, "ramp_time": 3, "duration": 7, "scheduler": "true"},
         {"stages": [{"target": 5, "duration": "3 s"}, {"target": 5, "duration": "4 s"}]}, "7 s"),
        ({"num_threads": 10, "ramp_time": 8, "duration": 4, "scheduler": "true"},
         {"stages": [{"target": 5, "duration": "4 s"}]}, "4 s"),
        ({"num_threads": 4}, {"users": 4}, "10 s"),
    ],
)  # fmt: skip
def test_users_without_loops_have_a_duration(
    imported: Any, threads: dict[str, Any], load: dict[str, Any], window: str
) -> None:
    endless = (
        '<elementProp name="ThreadGroup.main_controller">'
        f"{_prop('LoopController.loops', -1)}</elementProp>"
    )
    written = "".join(_prop(f"ThreadGroup.{key}", value) for key, value in threads.items())
    content = imported(_plan(_sampler(), threads=written + endless)).content
    assert content["loads"] == [{"closed": load}]
    assert content["window"] == {"duration": window}


def test_a_ramp_up_of_counted_loops_is_noted(imported: Any) -> None:
    threads = _prop("ThreadGroup.num_threads", 2) + _prop("ThreadGroup.ramp_time", 9)
    done = imported(_plan(_sampler(), threads=threads))
    assert done.content["loads"] == [{"closed": {"users": 2, "iterations": 1}}]
    assert "The ramp-up of 9 s is left out" in done.text


def _message(done: Done) -> dict[str, Any]:
    assert done.code == 0, done.err
    (message,) = done.messages.values()
    return {key: value for key, value in message.items() if key != "name"}


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (_sampler(path="http://127.0.0.1:8099/full?a=1"), {"method": "GET", "path": "/full?a=1"}),
        (_sampler(path="no/slash"), {"method": "GET", "path": "/no/slash"}),
        (_sampler(path="/ü x"), {"method": "GET", "path": "/%C3%BC%20x"}),
        (_sampler(path="/a?b=1", method="DELETE", more=_arguments(("c", "2"))),
         {"method": "DELETE", "path": "/a?b=1&c=2", "body": "c=2", "headers": FORM}),
        (_sampler(method="PATCH", more=_arguments(("", "x"), ("", "y"))),
         {"method": "PATCH", "path": "/a", "body": "xy",
          "headers": {"content-type": "text/plain; charset=UTF-8"}}),
        (_sampler(method="POST", more=_arguments(("a b", "c&d"), is_encoded=True)),
         {"method": "POST", "path": "/a", "body": "a+b=c%26d", "headers": FORM}),
        (_sampler(method="POST"), {"method": "POST", "path": "/a", "headers": FORM}),
        (_sampler(path="/${n}/${__P(p,7)}/${__property(q,,8)}/${__P(r)}"),
         {"method": "GET", "path": "/5/7/8/1"}),
    ],
)  # fmt: skip
def test_a_sampler_is_the_request_that_jmeter_sends(
    imported: Any, sampler: str, expected: dict[str, Any]
) -> None:
    assert _message(imported(_plan(sampler, variables=_variables(m="5", n="${m}")))) == expected


def test_the_nearest_header_and_default_count(imported: Any) -> None:
    def headers(**named: str) -> str:
        listed = "".join(
            f"<elementProp>{_prop('Header.name', n)}{_prop('Header.value', v)}</elementProp>"
            for n, v in named.items()
        )
        collection = f'<collectionProp name="HeaderManager.headers">{listed}</collectionProp>'
        kind = '<HeaderManager testclass="HeaderManager">'
        return f"{kind}{collection}</HeaderManager><hashTree/>"

    defaults = (
        '<ConfigTestElement testclass="ConfigTestElement" guiclass="HttpDefaultsGui">'
        f"{_prop('HTTPSampler.domain', '192.0.2.7')}{_prop('HTTPSampler.path', '/default')}"
        "</ConfigTestElement><hashTree/>"
    )
    own = f"<hashTree>{headers(x='near')}</hashTree>"
    done = imported(_plan(_sampler(path=""), own, headers(X="far", y="1"), defaults))
    assert _message(done) == {
        "method": "GET", "path": "/default", "headers": {"x": "near", "y": "1"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("element", "reason"),
    [
        (_sampler(path="/${__Random(1,9)}"), "the function __Random"),
        (_sampler(path="/${unknown}"), "${unknown} has a value only while JMeter runs"),
        (_sampler(path="/${unknown"), "a reference in it has no end"),
        (_sampler(method="TRACE"), "the method 'TRACE'"),
        (_sampler(method="HEAD", more=_arguments(("a", "1"))), "parameters of HEAD"),
        (_sampler(more=_prop("HTTPSampler.proxyHost", "p")), "go through a proxy"),
        (_sampler().replace("127.0.0.1", ""), "it names no server"),
        (_sampler().replace("127.0.0.1", "a b"), "is not a host name"),
        ('<IfController testclass="IfController" testname="if"/>', "decided while JMeter runs"),
        ('<JDBCSampler testclass="JDBCSampler" testname="db"/>', "only HTTP requests"),
        ('<kg.apc.X testclass="kg.apc.X" testname="plugin"/>', "it is not known"),
        ('<JSR223PreProcessor testclass="JSR223PreProcessor" testname="p"/>', "are not run"),
        ('<UniformRandomTimer testclass="UniformRandomTimer" testname="t"/>', "pauses that vary"),
    ],
)
def test_an_element_that_is_not_understood_is_refused_by_name_and_line(
    imported: Any, element: str, reason: str
) -> None:
    """Alone the plan is refused; with another request it is noted."""
    text = _plan(element)
    line = text[: text.index(element)].count("\n") + 1
    name = element.partition('testname="')[2].partition('"')[0]
    alone = imported(text)
    alone.check_refusal("there is no operation that can be imported", reason, f"plan.jmx:{line}: ")
    done = imported(_plan(_sampler("other"), element))
    assert list(done.messages) == ["other"]
    assert f"{name!r}: " in done.out
    assert reason in done.out


def _rows(names: str = "", **more: object) -> str:
    properties = {"filename": "rows.csv", "variableNames": names, **more}
    inner = "".join(_prop(key, value) for key, value in properties.items())
    return f'<CSVDataSet testclass="CSVDataSet" testname="rows">{inner}</CSVDataSet><hashTree/>'


def test_a_file_that_the_experiment_can_read_is_named_and_not_copied(
    imported: Any, tmp_path: Path
) -> None:
    (tmp_path / "rows.csv").write_text("name,password\nann,hunter2\n")
    body = _arguments(("", '{"name": "${name}", "password": "${password}"}'))
    done = imported(_plan(_rows(), _sampler(method="POST", more=body)))
    message = _message(done)
    assert message["data"] == {"file": "../rows.csv"}
    assert message["body"] == '{"name": "${name}", "password": "${password}"}'
    assert done.files == ["plan.yaml"]
    assert "hunter2" not in done.text


def test_secrets_of_rows_are_not_copied(imported: Any, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("ann|hunter2\nbob|hunter3\n")
    done = imported(_plan(_rows("name,password", delimiter="|"), _sampler(path="/${name}")))
    assert (done.folder / "plan.csv").read_text() == "name,password\nann,left-out\nbob,left-out\n"
    assert "the values of password are secrets" in " ".join(done.text.replace("#", "").split())


@pytest.mark.parametrize(
    ("content", "element", "reason"),
    [
        (b"a\n", _rows(filename="gone.csv"), "gone.csv: No such file"),
        (b"a\n", _rows(filename="../outside.csv"), "leads outside"),
        (b"a\n", _rows(), "has no rows"),
        (b"", _rows(), "has no rows"),
        (b"a b\n1\n", _rows(), "is not a name of a column"),
        (b"a,b\n1\n", _rows(), "row 1 of rows.csv has fewer than 2 values"),
        (b"a\n\0\n", _rows(), "has a NUL"),
        (b"a\n\xff\n", _rows(), "not text in UTF-8"),
        (b"a\n1\n", _rows(fileEncoding="nosuch"), "unknown encoding"),
        (b"a\n1\n", _rows(fileEncoding="undefined"), "undefined encoding"),
        (b"a\n\\ud800\n", _rows(fileEncoding="unicode_escape"), "surrogates not allowed"),
        (b"a\n1\n", _rows("a,a"), "two columns"),
        (b"a\n1\n", _rows(delimiter="::"), "is not one character"),
    ],
)
def test_rows_that_cannot_be_read_are_left_out_with_what_needs_them(
    imported: Any, tmp_path: Path, content: bytes, element: str, reason: str
) -> None:
    (tmp_path / "rows.csv").write_bytes(content)
    (tmp_path.parent / "outside.csv").write_text("a\n1\n")
    done = imported(_plan(element, _sampler(), _sampler("with row", path="/${a}")))
    assert list(done.messages) == ["get"]
    assert reason in done.out
    assert "${a} has a value only while JMeter runs" in done.out


def test_a_file_that_is_sent_is_beneath_the_folder_of_the_plan(
    imported: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.bin").write_bytes(b"\x00\xff")
    file = (
        '<elementProp name="HTTPsampler.Files"><collectionProp name="HTTPFileArgs.files">'
        f"<elementProp>{_prop('File.path', 'a.bin')}</elementProp></collectionProp></elementProp>"
    )
    done = imported(_plan(_sampler(method="POST", more=file)))
    assert (done.folder / "plan.get.bin").read_bytes() == b"\x00\xff"
    outside = imported(_plan(_sampler(method="POST", more=file.replace("a.bin", "/etc/passwd"))))
    assert outside.code == 2
    assert "leads outside" in outside.err


LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>" + "".join(
    f"<!ENTITY a{n} '&a{n - 1};&a{n - 1};'>" for n in range(1, 40)
)
HOSTILE = {
    "billion laughs": (f"{LAUGHS}]><jmeterTestPlan>&a39;</jmeterTestPlan>", "a document type"),
    "an external entity": (
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><jmeterTestPlan>&a;</jmeterTestPlan>',
        "a document type",
    ),
    "many levels": ("<jmeterTestPlan>" + "<hashTree>" * 100_000, "limit levels"),
    "many elements": ("<jmeterTestPlan>" + "<a/>" * 1_000_000, "limit nodes"),
    "a large file": ("<jmeterTestPlan>" + "x" * jmx_tree.BYTES_MAX, "limit file"),
    "NUL bytes": ("<jmeterTestPlan>\0</jmeterTestPlan>", "not well formed"),
    "no XML": ('{"openapi": "3.0.0"}', "plan.jmx:1: not well formed"),
    "another document": ("<html/>", "plan.jmx:1: the document is <html>"),
    "an empty file": ("", "plan.jmx:1: not well formed: no element found"),
    "no thread group": (f"{HEAD}<TestPlan testclass='TestPlan'/></hashTree></jmeterTestPlan>",
                        "there is no operation"),
    "variables within variables": (
        _plan(_sampler(path="/${v30}"), variables=_variables(
            v0="x" * 1000, **{f"v{n}": f"${{v{n - 1}}}" * 10 for n in range(1, 31)})),
        "limit steps",
    ),
    "a long variable many times": (
        _plan(_sampler(path="/" + "${v}" * 30_000), variables=_variables(v="x" * 50_000)),
        "limit steps",
    ),
    "too many requests": (_plan(*(_sampler(f"s{n}") for n in range(101))), "more than 100"),
    "users that are not a number": (
        _plan(_sampler(), threads=_prop("ThreadGroup.num_threads", "1e9")),
        "is not a whole number",
    ),
    "more users than there may be": (
        _plan(_sampler(), threads=_prop("ThreadGroup.num_threads", 999_999_999)),
        "the experiment would not be valid",
    ),
}  # fmt: skip
"""A document, and a part of the message that refuses it."""


@pytest.mark.timeout(20)
@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_plan_is_refused(imported: Any, case: str) -> None:
    text, reason = HOSTILE[case]
    imported(text).check_refusal(reason)


@pytest.mark.parametrize("case", HOSTILE)
def test_a_refusal_takes_two_seconds_and_200_mib_at_most(tmp_path: Path, case: str) -> None:
    """The bound is of the processor's time: the machine may have other work."""
    (tmp_path / "plan.jmx").write_text(HOSTILE[case][0])
    code, cpu_s, memory_mib = measure_cost(tmp_path, "jmeter", "plan.jmx")
    assert code == 2
    assert cpu_s < CPU_S_MAX
    assert memory_mib < MEMORY_MIB_MAX


def test_bytes_that_are_not_text_are_refused(importer: Importer, tmp_path: Path) -> None:
    path = tmp_path / "plan.jmx"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")
    importer("jmeter", path).check_refusal("plan.jmx")
    importer("jmeter", tmp_path).check_refusal(str(tmp_path))


@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_the_requests_of_a_plan_are_sent_as_it_has_them(importer: Importer, tmp_path: Path) -> None:
    with serve() as log:
        plan = tmp_path / "shop.jmx"
        plan.write_text(SHOP.read_text().replace(">8095<", f">{log.port}<"))
        (tmp_path / "books.csv").write_bytes((FILES / "books.csv").read_bytes())
        done = importer("jmeter", plan, "--out", "shop.yaml")
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
    iterations = 12  # 3 users with 4 loops, each with the next row
    assert sent == {
        ("GET", "/v1/books?q=a+%26+b&limit=5", ""): iterations,
        ("POST", "/v1/orders", '{"id": 1, "title": "The Red Book"}'): iterations // 2,
        ("POST", "/v1/orders", '{"id": 2, "title": "The Blue"}'): iterations // 2,
        ("PUT", "/pay", "book=1&note=in+time"): iterations // 2,
        ("PUT", "/pay", "book=2&note=in+time"): iterations // 2,
        ("DELETE", "/orders/1", ""): iterations // 2,
        ("DELETE", "/orders/2", ""): iterations // 2,
    }
    assert {one.headers["accept"] for one in log.requests} == {"application/json"}
    kinds = {one.path: one.headers.get("content-type") for one in log.requests}
    assert kinds["/v1/orders"] == "application/json"
    assert kinds["/pay"] == FORM["content-type"]


def _file(name: str, parameter: str = "") -> str:
    inner = "".join(
        _prop(f"File.{key}", value)
        for key, value in {"path": name, "paramname": parameter, "mimetype": "text/x"}.items()
    )
    listed = f'<elementProp name="{name}" elementType="HTTPFileArg">{inner}</elementProp>'
    collection = f'<collectionProp name="HTTPFileArgs.files">{listed}</collectionProp>'
    kind = '<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs">'
    return f"{kind}{collection}</elementProp>"


RAW = '<boolProp name="HTTPSampler.postBodyRaw">true</boolProp>'
MULTIPART = '<boolProp name="HTTPSampler.DO_MULTIPART_POST">true</boolProp>'
ONCE = (
    f"{_prop('ThreadGroup.num_threads', 1)}"
    '<elementProp name="ThreadGroup.main_controller" elementType="LoopController">'
    '<boolProp name="LoopController.continue_forever">false</boolProp>'
    f"{_prop('LoopController.loops', 1)}</elementProp>"
)
EVERY = [
    _sampler("form", "/1", "POST", _arguments(("a b", "c&d"), is_encoded=True)),
    _sampler("raw", "/2", "POST", RAW + _arguments(("", "raw ${n} body"))),
    _sampler("nameless", "/3", "PATCH", _arguments(("", "x"), ("", "y"))),
    _sampler("delete", "/4?b=1", "DELETE", _arguments(("c", "2"))),
    _sampler("raw get", "/5", "GET", RAW + _arguments(("", "get body"))),
    _sampler("plain form", "/6", "PUT", _arguments(("c", "a b"), ("d", "e%20f"))),
    _sampler("file", "/7", "POST", _file("a.txt")),
    _sampler("form with a file", "/8", "POST", _file("a.txt", "up") + _arguments(("t", "v"))),
    _sampler("form with parts", "/9", "POST", MULTIPART + _arguments(("t", "v"))),
    _sampler("nothing", "/10", "POST"),
    _sampler("raw delete", "/11", "DELETE", RAW + _arguments(("", "body"))),
    _sampler("query", "/12", "GET", _arguments(("q", "a b&\u00fc"), is_encoded=True)),
    _sampler("two", "/13?a=1", "GET", _arguments(("b", "2"), ("c", ""))),
    _sampler("patch", "/14", "PATCH", _arguments(("c", "\u00fc"), is_encoded=True)),
    _sampler("head", "/15", "HEAD"),
    _sampler("options", "/16", "OPTIONS", _arguments(("b", "2"))),
]
"""Every kind of request; a path that is not encoded is an error in JMeter."""


def _replace_boundary(received: Received) -> tuple[str, str, str, str]:
    kind = received.headers.get("content-type", "")
    boundary = kind.partition("; charset")[0].partition("boundary=")[2]
    if boundary:
        kind = kind.replace(boundary, "B")
        return received.method, received.path, received.body.replace(boundary, "B"), kind
    return received.method, received.path, received.body, kind


@pytest.mark.skipif(
    not (shutil.which("mvn") and shutil.which("java")),
    reason="JMeter is built with Maven and runs on Java; mvn or java is not on the PATH",
)
@pytest.mark.usefixtures("real_engine", "no_orphans")
def test_jmeter_sends_the_same_requests(importer: Importer, tmp_path: Path) -> None:
    """JMeter 5.6.3 runs the plan that is imported."""
    found = Tools().tool("jmeter", Interruption())
    (tmp_path / "a.txt").write_text("content of a file")
    with serve() as log:
        text = _plan(
            *(f"{one}<hashTree/>" for one in EVERY), threads=ONCE, variables=_variables(n="7")
        )
        plan = tmp_path / "plan.jmx"
        plan.write_text(text.replace(">8099<", f">{log.port}<"), encoding="utf-8")
        files = ["-l", str(tmp_path / "run.jtl"), "-j", str(tmp_path / "run.log")]
        java = ["java", "-Xmx512m", f"-Djava.util.prefs.userRoot={tmp_path}", "-jar"]
        done = subprocess.run(
            [*java, found.path, "-n", "-t", plan, *files, "-Jjmeterengine.nongui.port=0"],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
            cwd=tmp_path,
        )
        sent = sorted(map(_replace_boundary, log.requests))
        log.requests.clear()
        assert importer("jmeter", plan, "--out", "plan.yaml").code == 0
        written = importer.folder / "plan.yaml"
        written.write_text(written.read_text() + "repeats: 1\n")
        assert main(["run", "plan.yaml", "--out", "results"]) in (0, 5)
        imported = sorted(map(_replace_boundary, log.requests))
    assert len(sent) == len(EVERY)
    assert imported == sent
    shown = adapters.read(["jmeter", *files], done.stdout).report
    assert shown is not None
    assert (shown.requests, shown.failed) == (len(EVERY), 0)
    assert set(shown.latency_s) == {"mean", "p50", "p90", "p95", "p99", "max"}
