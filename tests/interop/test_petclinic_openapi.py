"""The OpenAPI document that rest@java prints: its operations are those of the contract, and
what services answer is what it says, by the judgement of Schemathesis."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import openapi_spec_validator
import pytest

from tests.interop.hosting import Host, Hosted

Json = dict[str, Any]

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"
API = "/petclinic/api"
KINDS = {
    "pettypes": ("PetTypes", "PetType"),
    "pets": ("Pets", "Pet"),
    "owners": ("Owners", "Owner"),
    "specialties": ("Specialties", "Specialty"),
    "vets": ("Vets", "Vet"),
    "visits": ("Visits", "Visit"),
}
"""By path, the names in operations."""
ANY_BODY = {400, 406, 415, 503}
"""How a body can be refused; a path without one has the same but 415."""


@dataclass(frozen=True)
class Route:
    """One operation."""

    operation: str
    method: str
    path: str
    statuses: frozenset[int]


def _routes() -> list[Route]:
    """The 33: five of each kind, and three below an owner."""

    def route(operation: str, method: str, path: str, *statuses: int) -> Route:
        return Route(operation, method, API + path, frozenset(statuses))

    routes = []
    for path, (all_rows, row) in KINDS.items():
        # Only ListOwners has a parameter, which can be wrong.
        wrong = (400,) if path == "owners" else ()
        added = 200 if row == "Pet" else 201
        one = f"/{path}/{{id}}"
        routes += [
            route(f"list{all_rows}", "get", f"/{path}", 200, *wrong, 404, 406, 503),
            route(f"get{row}", "get", one, 200, 400, 404, 406, 503),
            route(f"add{row}", "post", f"/{path}", added, *ANY_BODY),
            route(f"update{row}", "put", one, 204, 404, *ANY_BODY),
            route(f"delete{row}", "delete", one, 204, 400, 404, 406, 503),
        ]
    pets = "/owners/{ownerId}/pets"
    pet = f"{pets}/{{petId}}"
    return [
        *routes,
        route("addPetToOwner", "post", pets, 201, 404, *ANY_BODY),
        route("getOwnersPet", "get", pet, 200, 400, 404, 406, 503),
        route("addVisitToOwner", "post", f"{pet}/visits", 201, 404, *ANY_BODY),
    ]


ROUTES = _routes()
BY_REFERENCE = (
    "names rows by ids: one that there is not is an invalid request, whatever a schema says"
)
EXCEPTIONS = {
    "addPet": BY_REFERENCE,
    "updatePet": BY_REFERENCE,
    "addPetToOwner": BY_REFERENCE,
    "addVisit": BY_REFERENCE,
    "addVet": BY_REFERENCE,
    "updateVet": BY_REFERENCE,
}
"""Operations that may refuse with 400 what the schema allows, and why; every other check applies
to every operation."""
EXAMPLES = 10
"""Generated calls of an operation, at most, in each phase."""
CALLS_MIN = 500
RUN_S_MAX = 300
"""A run takes about ten seconds on a quiet machine."""


@dataclass(frozen=True)
class Sent:
    """A request that Schemathesis made, and the status of its reply."""

    method: str
    url: str
    fields: dict[str, str]
    body: str | None
    status: int

    @property
    def target(self) -> str:
        """Path and query, as they were sent."""
        parts = urlsplit(self.url)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path

    def content(self) -> bytes | None:
        """The body, a null list left out: the contract does not say what it is. Java and Go
        take it for an empty one, as the JSON mapping of Protocol Buffers does, serde refuses it."""
        try:
            body = json.loads(self.body or "")
        except ValueError:
            body = None
        if not isinstance(body, dict) or body.get("specialties", ()) is not None:
            return None if self.body is None else self.body.encode()
        return json.dumps({k: v for k, v in body.items() if k != "specialties"}).encode()


@pytest.fixture(scope="module")
def printed(host: Host) -> Json:
    """What rest@java prints."""
    program = host.program("rest@java", "petclinic")
    done = subprocess.run(
        [*program.command, "openapi"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(done.stdout)
    return document


def _operations(document: Json) -> dict[tuple[str, str], Json]:
    return {
        (method, path): operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


def _check_operations(document: Json) -> None:
    openapi_spec_validator.validate(document)
    found = _operations(document)
    assert set(found) == {(route.method, route.path) for route in ROUTES}
    for route in ROUTES:
        operation = found[route.method, route.path]
        assert operation["operationId"] == route.operation
        statuses = {int(status) for status in operation["responses"]}
        assert statuses == route.statuses, route
        located = "Location" in operation["responses"].get("201", {}).get("headers", {})
        assert located == (201 in route.statuses), route
        parameters = {each["name"]: each for each in operation.get("parameters", [])}
        in_path = {name for name in ("id", "ownerId", "petId") if f"{{{name}}}" in route.path}
        in_query = {"lastName"} if route.operation == "listOwners" else set()
        assert set(parameters) == in_path | in_query, route
        for name in in_path:
            assert parameters[name]["schema"] == {"type": "integer", "format": "int32"}, route
        refused = operation["responses"].get("400", {})
        assert ("errors" in refused.get("headers", {})) == ("requestBody" in operation), route


def test_there_are_33_routes() -> None:
    assert len({route.operation for route in ROUTES}) == len(ROUTES) == 33


def test_rest_java_prints_the_operations_of_the_application(printed: Json) -> None:
    _check_operations(printed)
    limits = printed["components"]["schemas"]["OwnerFields"]["properties"]
    assert limits["lastName"]["pattern"] == "^[A-Za-z]{1,30}$"
    assert (limits["address"]["minLength"], limits["address"]["maxLength"]) == (1, 255)


def test_the_document_of_the_contract_has_the_same_operations() -> None:
    _check_operations(json.loads((CONTRACTS / "openapi/petclinic.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def sent_to_java(host: Host, printed: Json, tmp_path_factory: pytest.TempPathFactory) -> list[Sent]:
    """What Schemathesis sent to rest@java, after it has found nothing wrong."""
    with host.start("rest@java?store=memory", "petclinic") as hosted:
        return _schemathesis(hosted, printed, tmp_path_factory.mktemp("java"))


def test_rest_java_answers_as_it_says(sent_to_java: list[Sent]) -> None:
    assert len(sent_to_java) > CALLS_MIN
    assert {sent.status for sent in sent_to_java} >= {200, 201, 204, 400, 404, 405}


@pytest.mark.parametrize("reference", ["rest@java?store=h2", "rest@go", "rest@rust"])
def test_services_answer_as_rest_java_says(
    reference: str, host: Host, printed: Json, tmp_path: Path
) -> None:
    with host.start(reference, "petclinic") as hosted:
        assert len(_schemathesis(hosted, printed, tmp_path)) > CALLS_MIN


@pytest.mark.parametrize("reference", ["rest@go", "rest@rust"])
def test_the_same_calls_have_the_same_statuses(
    reference: str, host: Host, sent_to_java: list[Sent]
) -> None:
    with host.start(reference, "petclinic") as hosted:
        for sent in sent_to_java:
            # One each: servers end connections whose requests they have not read to the end.
            connection = http.client.HTTPConnection(hosted.address, timeout=10)
            with contextlib.closing(connection):
                connection.request(sent.method, sent.target, sent.content(), sent.fields)
                reply = connection.getresponse()
                body = reply.read()
            assert reply.status == sent.status, f"{sent}: {body!r}"


def _schemathesis(hosted: Hosted, document: Json, folder: Path) -> list[Sent]:
    """All its checks on boundary values, generated calls and sequences of them; the same ones
    every time."""
    paths = [folder / name for name in ("openapi.json", "schemathesis.toml", "calls.har")]
    described, configuration, calls = paths
    described.write_text(json.dumps(document), encoding="utf-8")
    configuration.write_text(_configuration(), encoding="utf-8")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--no-color"),
            *(f"--config-file={configuration}", "run", str(described)),
            *(f"--url=http://{hosted.address}", "--checks=all", "--no-shrink"),
            *(f"--max-examples={EXAMPLES}", "--generation-deterministic"),
            *("--report=har", f"--report-har-path={calls}"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=RUN_S_MAX,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Tested: 33" in done.stdout, done.stdout
    return [_send(entry) for entry in json.loads(calls.read_text("utf-8"))["log"]["entries"]]


def _send(entry: Json) -> Sent:
    request = entry["request"]
    of_the_client = ("host", "content-length", "connection", "accept-encoding")
    fields = {
        field["name"]: field["value"]
        for field in request["headers"]
        if field["name"].lower() not in of_the_client
    }
    body = request.get("postData", {}).get("text")
    return Sent(request["method"], request["url"], fields, body, entry["response"]["status"])


def _configuration() -> str:
    """The exceptions as Schemathesis reads them."""
    return "".join(
        f"""
[[operations]]
include-operation-id = "{operation}"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "400"]
"""
        for operation in EXCEPTIONS
    )
