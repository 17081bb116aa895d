"""The ready line of every stack names the libraries on its request path, by role."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.interop.driving import Engine
from tests.interop.hosting import Host
from tools import stack_table
from tools.stack_table import Ready, Report
from wirelab.documents.service_ready import Library
from wirelab.errors import BuildError, EngineMissing
from wirelab.process.interruption import Interruption
from wirelab.process.scratch import Scratch
from wirelab.records.conversion import convert
from wirelab.records.service import OWN, ServiceRecord
from wirelab.stack import manifests
from wirelab.stack.manifests import Served
from wirelab.stack.reference import Stack

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((ROOT / "contracts/process/service-ready.schema.json").read_text())
BUILD_S_MAX = 900
"""Maven fetches and builds for minutes on a machine where nothing was built before."""
CALLS = 20
JAVA_STACKS = (
    "rest@java?codec=json&compression=gzip&security=tls",
    "rest@java?codec=xml&compression=zstd&transport=http/2",
    "rest@java?codec=protobuf",
    "soap@java?codec=soap-literal&compression=gzip",
    "soap@java?codec=soap-rpc&security=tls",
    "soap@java?codec=soap-encoded",
    "grpc@java?compression=gzip",
    "grpc@java?compression=zstd&security=tls",
    "iiop@java",
)
"""Every codec and every library of the Java service at least once."""
WOODSTOX = "com.ctc.wstx.sr.ValidatingStreamReader"
JDK_STAX = "com.sun.org.apache.xerces.internal.impl.XMLStreamReaderImpl"
JDK_SAX = "com.sun.org.apache.xerces.internal.jaxp"
JDK_WORKERS = {
    JDK_SAX: f"{JDK_SAX}.SAXParserImpl",
    "com.sun.xml.internal.stream": JDK_STAX,
    "java.util.zip": "java.util.zip.GZIPOutputStream",
    "sun.security.ssl": "sun.security.ssl.SSLEngineImpl",
}
"""By package of the JDK, a class that is loaded by the work itself, not by its factory."""
OFFERS = [
    pytest.param(language, served, id=f"{language}-{served.binding}-{served.codecs[0]}")
    for language, manifest in manifests.load().by_language.items()
    for served in manifest.serves
]


@pytest.fixture(scope="module")
def ready() -> Iterator[Ready]:
    """What the service of a stack reports; each stack is started once for all of these tests."""
    with Scratch() as scratch:
        started = stack_table.starter(manifests.load(), scratch, Interruption())

        def report(stack: Stack) -> Report:
            try:
                return started(stack)
            except EngineMissing as error:
                pytest.skip(str(error))
            except BuildError as error:
                # What is not installed is a reason to skip; a build that fails is a failure.
                if "which is not in PATH" not in str(error):
                    raise
                pytest.skip(str(error))

        yield report


@pytest.fixture
def host(real_engine: Path, tmp_path: Path) -> Iterator[Host]:
    with Scratch() as scratch:
        yield Host(scratch, tmp_path)


def _each_once(served: Served) -> Iterator[tuple[str, ...]]:
    """Codec, compression and security: each value with the first ones of the other two, and the
    last ones together."""
    axes = served.codecs, served.compression, served.security
    first = tuple(values[0] for values in axes)
    yield first
    for place, values in enumerate(axes):
        yield from ((*first[:place], value, *first[place + 1 :]) for value in values[1:])
    yield tuple(values[-1] for values in axes)


@pytest.mark.timeout(BUILD_S_MAX)
@pytest.mark.parametrize(("language", "served"), OFFERS)
def test_every_offered_stack_names_its_libraries_by_role(
    language: str, served: Served, ready: Ready
) -> None:
    """Every codec, every compression and every security of the manifest; what each adds does not
    depend on the others."""
    for codec, compression, security in _each_once(served):
        stack = (
            f"{served.binding}@{language}?codec={codec}&compression={compression}"
            f"&security={security}"
        )
        report = ready(Stack.parse(stack))
        jsonschema.Draft202012Validator(SCHEMA).validate(report.line)
        found = report.libraries
        expected = {"server", "codec"}
        expected |= {"compression"} if compression != "none" else set()
        expected |= {"tls"} if security != "none" else set()
        assert {library.role for library in found} == expected, stack
        assert len(set(found)) == len(found), f"{stack} names a library twice: {found}"
        assert all(re.match(r"(go)?\d", library.version) for library in found), f"{stack}: {found}"


@pytest.mark.timeout(BUILD_S_MAX)
def test_readme_has_the_libraries_that_the_services_report(ready: Ready) -> None:
    """Every binding and codec of every language, and its variants."""
    written, made = stack_table.page(ready)
    diff = unified_diff(
        written.splitlines(), made.splitlines(), "README.md", "the services", lineterm=""
    )
    lines = "\n".join(diff)
    assert not lines, (
        "README.md's table of stacks differs from what the services report: run "
        f"`make generate` and commit README.md\n{lines}"
    )


@pytest.mark.timeout(BUILD_S_MAX)
@pytest.mark.parametrize("reference", JAVA_STACKS)
def test_java_loads_the_libraries_that_it_names(
    reference: str, host: Host, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Real calls over the stack, and the classes that the virtual machine loaded by its log."""
    log = tmp_path / "classes.log"
    machine = tmp_path / "java"
    machine.write_text(f'#!/bin/sh\nexec java -Xlog:class+load:file={log} "$@"\n')
    machine.chmod(0o755)
    monkeypatch.setenv("JAVA", str(machine))
    with host.start(reference) as hosted:
        found = hosted.service.ready.libraries
        tls = hosted.tls.of_client(hosted.stack.axes.security) if hosted.tls else {}
        endpoint: dict[str, Any] = {"target": hosted.address, **({"tls": tls} if tls else {})}
        if reference.startswith("iiop"):
            endpoint = {"object": hosted.ior}
        workload = {
            "kind": "contract",
            "contract": "transfer",
            "operation": "Upload",
            "bytes": 2000,
        }
        outcome = Engine(tmp_path / "engine.log").drive(reference, workload, CALLS, **endpoint)
        assert (outcome["ok"], outcome["errors"]) == (CALLS, 0), outcome["error_examples"]
    loaded = log.read_text(encoding="utf-8")
    for library in found:
        assert library.name == OWN or re.search(_evidence(library), loaded), library
    if reference.startswith("soap"):
        # The class path offers both parsers.
        assert (f"] {WOODSTOX} " in loaded) == ("soap-encoded" not in reference)
        assert f"] {JDK_STAX} " not in loaded


def _evidence(library: Library) -> str:
    """A class of that library which only calls load, as the log of the virtual machine has it."""
    if library.name in JDK_WORKERS:
        return rf"\] {re.escape(JDK_WORKERS[library.name])} source: (jrt:|shared)"
    jar, _, part = library.name.partition(" (netty-")
    inside = rf"\] \S+\.{part[:-1]}\.\S+ source: " if part else ""
    return rf"{inside}.*/{re.escape(f'{jar}-{library.version}.jar')}"


def _list_libraries(recorded: object) -> list[str]:
    return convert({"libraries": recorded}, ServiceRecord).list_libraries()


def test_libraries_are_shown_by_role() -> None:
    recorded = [
        {"role": "server", "name": "axum", "version": "0.8.9"},
        {"role": "server", "name": "hyper", "version": "1.12.0"},
        {"role": "codec", "name": "serde_json", "version": "1.0.154"},
    ]
    assert _list_libraries(recorded) == [
        "server: axum 0.8.9, hyper 1.12.0",
        "codec: serde_json 1.0.154",
    ]


def test_libraries_recorded_without_roles_are_shown_as_they_are() -> None:
    """Runs recorded before libraries had roles hold a map."""
    assert _list_libraries({"hyper": "1.7.0", "axum": "0.8.0"}) == ["axum 0.8.0, hyper 1.7.0"]
    assert _list_libraries({}) == _list_libraries(None) == []
