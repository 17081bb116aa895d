"""How a service and its caller find each other: sockets, certificates, objects, reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from wirelab.errors import LabError
from wirelab.process.endpoint import Endpoint, ListenSpec
from wirelab.process.scratch import SUN_PATH_MAX, Certificates, Scratch
from wirelab.process.services import Settings
from wirelab.stack.reference import Stack


def test_a_plain_stack_listens_on_any_port_and_needs_no_files() -> None:
    with Scratch() as scratch:
        listen = ListenSpec.of(Stack.parse("rest@rust"), scratch)
    assert listen == ListenSpec("127.0.0.1:0", {}, {})
    configuration = Settings().configuration(Stack.parse("rest@rust"), "transfer", listen)
    assert configuration["listen"] == "127.0.0.1:0"
    assert "tls" not in configuration


def test_every_service_gets_a_unix_socket_of_its_own_and_none_is_left() -> None:
    stack = Stack.parse("grpc@rust?socket=unix")
    with Scratch() as scratch:
        listens = [ListenSpec.of(stack, scratch).listen for _ in range(3)]
        paths = [Path(listen.removeprefix("unix:")) for listen in listens]
        assert len(set(listens)) == 3
        assert all(len(bytes(path)) <= SUN_PATH_MAX for path in paths)
        assert all(path.parent.is_dir() for path in paths)
    assert not paths[0].parent.exists()


def test_a_path_too_long_for_a_socket_is_refused_with_the_remedy(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    with Scratch(deep) as scratch, pytest.raises(LabError, match="TMPDIR"):
        scratch.socket()


@pytest.mark.parametrize(
    ("security", "service", "client"),
    [
        ("none", set(), set()),
        ("tls", {"certificate", "key"}, {"ca", "server_name"}),
        (
            "mtls",
            {"certificate", "key", "client_ca"},
            {"ca", "server_name", "certificate", "key"},
        ),
    ],
)
def test_each_end_gets_the_files_that_its_security_needs(
    tmp_path: Path, security: str, service: set[str], client: set[str]
) -> None:
    files = Certificates(tmp_path)
    assert set(files.of_service(security)) == service
    assert set(files.of_client(security)) == client


def test_the_plan_names_only_what_the_stack_has() -> None:
    assert Endpoint("127.0.0.1:1").group() == {"target": "127.0.0.1:1"}
    endpoint = Endpoint("127.0.0.1:1", ior="IOR:00", report="127.0.0.1:2", tls={"ca": "x"})
    assert endpoint.group() == {
        "target": "127.0.0.1:1",
        "object": "IOR:00",
        "report": "127.0.0.1:2",
        "tls": {"ca": "x"},
    }
