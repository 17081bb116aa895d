"""User-defined services and their messages, as experiment files declare them."""

from __future__ import annotations

import base64
import re
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    Field,
    IPvAnyAddress,
    PrivateAttr,
    field_validator,
    model_validator,
)

from wirelab.errors import UsageError
from wirelab.experiment import request_list
from wirelab.experiment.connection import Ready, Tls
from wirelab.experiment.expect import Expect
from wirelab.experiment.external_requests import GrpcMethod, GrpcRequest, HttpRequest, WithBody
from wirelab.experiment.fields import (
    Authority,
    Headers,
    HttpMethod,
    HttpPath,
    Json,
    Model,
    Time,
    header_pairs,
    refuse_host,
    time_default,
)
from wirelab.experiment.messages import Carry, Data
from wirelab.experiment.request_list import REQUEST, PreparedRequest
from wirelab.experiment.yaml_model import FOLDER
from wirelab.stack import targets
from wirelab.stack.external import ExternalStack
from wirelab.stack.targets import Server, system_authorities

CONTRACT = "external"
"""Used in place of a contract's name."""
REQUEST_KEYS = ("method", "path", "headers", "grpc")
"""Keys of a message that replaces the declared request of a service."""
WARM_USERS = 8
"""Users who make the calls of ``warm_calls``."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
NO_REQUEST = "write one of body, body_file and json, or method, path, grpc or data"


class ExternalService(Model):
    """A user-defined service: a command that wirelab starts, or the URL of a running service."""

    name: Annotated[str, Field(max_length=200, description="name in the results")]
    command: tuple[str, ...] | None = Field(
        None,
        min_length=1,
        description="program and arguments; {port} and {host} are replaced by the listen address",
    )
    url: str | None = Field(None, description="http://, https://, grpc:// or grpcs://, instead")
    env: dict[str, str] = Field(
        default_factory=dict,
        description="environment, with the same placeholders; a value may have ${VARIABLE}",
    )
    cwd: str | None = Field(
        None, description="working folder; default: that of the experiment file"
    )
    ready: Ready = Ready()
    stop: Time = time_default("5 s", "time from SIGTERM to SIGKILL")
    host: Authority | None = Field(
        None, description="Host header or :authority; default: host and port of url"
    )
    address: IPvAnyAddress | None = Field(
        None, description="IP address to connect to; default: that of the name in url"
    )
    pid: int | None = Field(
        None, ge=1, description="process id of the service at url, to measure its CPU"
    )
    http: HttpRequest | None = Field(None, description="request to an HTTP service")
    grpc: GrpcRequest | None = Field(None, description="request to a gRPC service")
    warm_calls: int = Field(
        0,
        ge=0,
        le=1_000_000,
        multiple_of=WARM_USERS,
        description="calls before every trial, by 8 users as fast as it answers, which are not "
        "measured: a JVM compiles code that is called often",
    )
    requests: str | None = Field(
        None,
        description="JSON lines, relative to the experiment file: {body: base64, expect: …}; calls "
        "take one at random",
    )
    expect: Expect | None = Field(None, description="definition of a correct reply; default: 2xx")
    tls: Tls | None = Field(None, description="TLS files for calls over TLS")
    _folder: Path = PrivateAttr(Path())

    def model_post_init(self, context: Any) -> None:
        """Remembers the folder to resolve relative paths."""
        self._folder = (context or {}).get(FOLDER) or Path()

    def __hash__(self) -> int:
        """Hashes all keys."""
        return hash(self.model_dump_json())

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if "://" not in name and not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", name):
            raise ValueError(
                "use lower-case letters, digits, dots and dashes, at most 64 characters"
            )
        return name

    @model_validator(mode="after")
    def _one_of_two(self) -> ExternalService:
        if (self.command is None) == (self.url is None):
            raise ValueError("a service has either command or url")
        if self.http is not None and self.grpc is not None:
            raise ValueError("a service has either http or grpc")
        if self.url is None:
            return self._with_command()
        unused: list[str] = [key for key in ("env", "cwd", "stop") if key in self.model_fields_set]
        ready = self.ready.model_fields_set
        unused += [f"ready.{key}" for key in ("log", "grpc", "within") if key in ready]
        if unused:
            raise ValueError(
                f"{unused[0]} applies to command only: the service at url is already running"
            )
        server = self._server_of_url()
        if (server.kind == "http" and self.grpc) or (server.kind == "grpc" and self.http):
            raise ValueError(f"url is a {server.kind} URL: declare the request with {server.kind}")
        return self

    def _with_command(self) -> ExternalService:
        if self.pid is not None or self.address is not None:
            unused = "address" if self.pid is None else "pid"
            raise ValueError(f"{unused} applies to url only")
        if self.http is None and self.grpc is None:
            raise ValueError("the request is missing: add http: {path: /} or grpc: {method: …}")
        return self

    def _server_of_url(self) -> Server:
        assert self.url is not None  # read only after validation
        url = self.url
        if url.startswith("grpc") and self.grpc is not None and "/" not in url.split("://", 1)[1]:
            url = f"{url}{self.grpc.path}"
        try:
            address = str(self.address) if self.address else ""
            return targets.parse(url, address)  # type: ignore[return-value]  # it has ://
        except UsageError as error:
            raise ValueError(f"{error.message}; {error.remedy}") from None

    @cached_property
    def server(self) -> Server | None:
        """The server of ``url``; None with a command."""
        return None if self.url is None else self._server_of_url()

    @property
    def kind(self) -> Literal["http", "grpc"]:
        """The protocol."""
        if self.server is not None:
            return self.server.kind
        return "http" if self.grpc is None else "grpc"

    @property
    def is_local(self) -> bool:
        """Whether the service is on this machine."""
        return self.server is None or self.server.local

    @property
    def url_host(self) -> str:
        """Host of ``url``; empty with a command."""
        return "" if self.url is None else urlsplit(self.url).hostname or ""

    @property
    def is_secure(self) -> bool:
        """Whether calls use TLS."""
        return self.tls is not None or bool(self.server and self.server.secure_name)

    @property
    def folder(self) -> Path:
        """Working folder of the command."""
        return self._folder / (self.cwd or "")

    @property
    def has_request(self) -> bool:
        """Whether it can be called without a message of the experiment."""
        if self.kind == "grpc":
            return self.grpc is not None and (self.grpc.has_body or self.requests is not None)
        return True

    @property
    def stack(self) -> ExternalStack:
        """The axes that the declaration sets."""
        is_grpc = self.kind == "grpc"
        is_h2 = is_grpc or (self.http is not None and self.http.version == "2")
        request = self.grpc or self.http
        return ExternalStack.declare(
            self.name,
            {
                "binding": "grpc" if is_grpc else "rest",
                "codec": "protobuf" if is_grpc else "text",
                "transport": "http/2" if is_h2 else "http/1.1",
                "security": "tls" if self.is_secure else "none",
                "compression": request.compression if request else "none",
            },
        )

    @property
    def problem(self) -> str:
        """Why it cannot be called; empty if it can."""
        request = self.grpc or self.http
        found = (request.problem if request else "") or self._of_expectation(self.expect)
        found = found or self._problem_of_requests()
        if not found and self.command is not None and not self.folder.is_dir():
            found = f"cwd: {self.folder}: no such folder"
        found = found or self._problem_of_tls()
        return found and f"service {self.name}: {found}"

    def expectation(self, message: _OwnRequest) -> Expect | None:
        """Definition of a correct reply to that message."""
        return message.expect or self.expect

    @cached_property
    def prepared(self) -> tuple[PreparedRequest, ...]:
        """The requests of its file; none without one. Raises :class:`OSError` and
        :class:`BadRequestList`."""
        if self.requests is None:
            return ()
        return request_list.read(self._folder / self.requests)

    def _problem_of_requests(self) -> str:
        """Why the file of requests cannot be used; empty if it can, or if there is none."""
        try:
            for prepared in self.prepared:
                if found := self._of_expectation(prepared.expectation):
                    return f"requests: {found}"
        except OSError as error:
            return f"requests: {self._folder / (self.requests or '')}: {error.strerror}"
        except request_list.BadRequestList as error:
            return str(error)
        return ""

    def _problem_of_tls(self) -> str:
        """Why its certificates cannot be read; empty if they can, or if it has none."""
        if not self.is_secure:
            return ""
        tls = self.tls or Tls()
        named = {key: getattr(tls, key) for key in ("ca", "certificate", "key")}
        for key, file in named.items():
            if file is not None and not (self._folder / file).is_file():
                return f"tls.{key}: {self._folder / file}: no such file"
        if tls.ca is None and not tls.insecure and not system_authorities():
            return "this system has no file with certificate authorities: write tls: {ca: …}"
        return ""

    def problem_with(self, message: ExternalMessage) -> str:
        """Why it cannot be sent the message, or why its replies cannot match ``expect``; empty if
        there is no such reason."""
        described = self.grpc is not None and self.grpc.is_described
        for request in message.requests:
            found = self._of_expectation(request.expect)
            if self.kind == "grpc" and request.is_json and not described:
                found = (
                    "json needs grpc.proto of the service, which describes the message, or "
                    "grpc.reflect"
                )
            if self.kind == "grpc" and request.protobuf is not None:
                found = "protobuf belongs to requests over HTTP: gRPC has its type from grpc.proto"
            if found:
                return f"message {request.name} to {self.name}: {found}"
        return ""

    def _of_expectation(self, expect: Expect | None) -> str:
        if expect is None:
            return ""
        found = expect.foreign_key(self.kind) or expect.problem
        described = self.grpc is not None and self.grpc.is_described
        if not found and "message" in expect.keys and not described:
            return "expect.message needs grpc.proto, which describes it, or grpc.reflect"
        return found

    def point(self) -> Json:
        """The service in results: everything that affects a trial, without secrets. Raises
        :class:`OSError`."""
        described = self.model_dump(mode="json", exclude_defaults=True, by_alias=True)
        if self.expect is not None:
            described["expect"] = self.expect.plan
        request = self.grpc or self.http
        if files := request.sha256() if request else {}:
            described["sha256"] = files
        if self.requests is not None:
            file = self._folder / self.requests
            described["sha256"] = {**files, "requests": request_list.digest(file)}
        return {key: value for key, value in described.items() if key != "name"}

    def tls_files(self) -> dict[str, str | bool]:
        """The object ``tls`` of a group in the engine's plan; empty without TLS."""
        if not self.is_secure:
            return {}
        tls = self.tls or Tls()
        name = tls.server_name or (self.server.secure_name if self.server else None)
        files: dict[str, str | bool] = {"insecure": True}
        if not tls.insecure:
            files = {"ca": str(self._folder / tls.ca) if tls.ca else system_authorities()}
        if tls.certificate is not None and tls.key is not None:
            files["certificate"] = str(self._folder / tls.certificate)
            files["key"] = str(self._folder / tls.key)
        return {**files, **({"server_name": name} if name else {})}

    def workload(self, message: ExternalMessage, seed: int = 0) -> Json:
        """The object ``workload`` of a group in the engine's plan; ``seed`` determines its random
        values."""
        if message.steps:
            steps: list[Json] = [
                {
                    "request": {**self._workload(step, seed), "name": step.name},
                    "carry": [c.model_dump(mode="json", exclude_none=True) for c in step.carry],
                }
                for step in message.steps
            ]
            data: Json = {"data": message.data.plan(seed)} if message.data else {}
            return {"kind": "requests", "steps": steps, **data}
        if not message.mix:
            alone = self._workload(message, seed)
            if self.prepared and not message.is_request:
                return request_list.mix(self.prepared, alone, seed)
            return alone
        parts = [
            {"weight": part.weight, "workload": {**self._workload(part, seed), "name": part.name}}
            for part in message.mix
        ]
        return {"kind": "mix", "parts": parts, "seed": seed}

    def _workload(self, message: _OwnRequest, seed: int) -> Json:
        expect = self.expectation(message)
        judged: Json = {"expect": expect.plan} if expect else {"count_replies": True}
        if message.data is not None:
            judged["data"] = message.data.plan(seed)
        return {**(self._grpc if self.kind == "grpc" else self._http)(message), **judged}

    def _http(self, message: _OwnRequest) -> Json:
        request = self.http or HttpRequest()
        sent = message if message.has_body or message.is_http_request else request
        headers = message.headers_over(request.headers)
        if sent.content_type and not any(name.lower() == "content-type" for name in headers):
            headers["content-type"] = sent.content_type
        path = request.path
        if self.server is not None and "path" not in request.model_fields_set:
            path = self.server.path
        method = message.method if message.is_http_request else request.method
        has_body = sent.has_body or (sent is request and self.requests is not None)
        return {
            "kind": "http",
            "method": method or ("POST" if has_body else "GET"),
            "path": message.path or path,
            "headers": header_pairs(headers),
            **sent.describe_body(),
        }

    def _grpc(self, message: _OwnRequest) -> Json:
        request = self.grpc
        path = request.path if request else self.server.path if self.server else ""
        if message.grpc is not None:
            path = f"/{message.grpc.removeprefix('/')}"
        workload: Json = {"kind": "grpc", "method": path}
        if request is not None:
            workload["metadata"] = header_pairs(request.metadata)
            workload |= request.describe_method()
        is_own = message.has_body or message.grpc is not None
        sent = message if is_own or request is None else request
        if sent.is_json:
            return {**workload, "message": sent.json_}
        return {**workload, "body_base64": base64.b64encode(sent.content).decode()}


class _OwnRequest(WithBody):
    """Content or a complete request to send to user-defined services. Content replaces that of the
    request that a service declares."""

    name: Name = Field(description="name in the results")
    method: HttpMethod | None = Field(
        None, description="HTTP method, replaces the service's; default: GET, or POST with a body"
    )
    path: HttpPath | None = Field(None, description="HTTP path and query, replaces the service's")
    headers: Headers = Field(
        default_factory=dict,
        description="HTTP headers as name: value, or a list of values; added to the service's",
    )
    grpc: GrpcMethod | None = Field(
        None, description="package.Service/Method, replaces the service's"
    )
    expect: Expect | None = Field(
        None, description="definition of a correct reply; default: the service's"
    )
    data: Data | None = Field(
        None,
        description="rows whose values replace ${column} in path, header values and content, also "
        "in those of the service",
    )

    _without_host = field_validator("headers")(refuse_host)

    @property
    def is_request(self) -> bool:
        """Whether it has more than its name."""
        return bool(self.has_body or self.is_http_request or self.headers or self.grpc or self.data)

    @property
    def is_http_request(self) -> bool:
        """Whether it is a complete HTTP request, with its own content or none."""
        return self.method is not None or self.path is not None

    def is_for(self, service: ExternalService) -> bool:
        """Whether it can be sent to the service. A message with a request of one protocol is only
        for services of that protocol."""
        has_http = self.is_http_request or bool(self.headers)
        has_grpc = self.grpc is not None
        return has_http == has_grpc or (has_grpc if service.kind == "grpc" else has_http)

    def headers_over(self, headers: Headers) -> Headers:
        """Headers of the service, replaced by the message's own headers of the same name."""
        own = {name.lower() for name in self.headers}
        return {n: v for n, v in headers.items() if n.lower() not in own} | self.headers

    @property
    def problem(self) -> str:
        """Why content or rows cannot be read; empty if they can."""
        return super().problem or (self.data.problem if self.data else "")

    def point(self) -> Json:
        """Properties that the name does not contain, for results."""
        written = self.model_dump(mode="json", include=set(REQUEST_KEYS))
        named: Json = {key: value for key, value in written.items() if value}
        if self.has_body:
            named["sha256"] = self.digest
        if self.protobuf is not None:
            named["protobuf"] = {"name": self.protobuf.name, "sha256": self.protobuf_sha256}
        if self.expect is not None:
            named["expect"] = self.expect.plan
        if self.data is not None:
            named["data"] = self.data.point()
        return named


class ExternalStep(_OwnRequest):
    """One request of several in a fixed order."""

    carry: tuple[Carry, ...] = Field(
        (),
        description="values of earlier replies: from is a JSONPath into the reply, to the name of "
        "a ${placeholder} in this request",
    )

    @model_validator(mode="after")
    def _has_no_data(self) -> ExternalStep:
        if self.data is not None:
            raise ValueError("data belongs next to steps: all steps share one row")
        if not self.is_request:
            raise ValueError(NO_REQUEST)
        return self

    def point(self) -> Json:
        """Properties including the carried values, for results."""
        carried = [carry.model_dump(mode="json", exclude_none=True) for carry in self.carry]
        return {**super().point(), **({"carry": carried} if carried else {})}


class ExternalPart(_OwnRequest):
    """One part of a mix."""

    weight: float = Field(
        1.0, gt=0, le=1e9, description="its share is weight divided by the sum of all weights"
    )

    @model_validator(mode="after")
    def _has_a_request(self) -> ExternalPart:
        if not self.is_request:
            raise ValueError(NO_REQUEST)
        return self


class ExternalMessage(_OwnRequest):
    """A named message to user-defined services, or several of them: a mix, or steps."""

    steps: tuple[ExternalStep, ...] = Field(
        (), max_length=100, description="requests in this order, all made by one user"
    )
    mix: tuple[ExternalPart, ...] = Field(
        (), max_length=1_000, description="parts; each arrival is one of them, chosen by weight"
    )

    @model_validator(mode="after")
    def _has_a_request(self) -> ExternalMessage:
        if self.mix and self.is_request:
            raise ValueError("in a mix, write requests and data in its parts")
        own = self.has_body or self.is_http_request or self.headers or self.grpc or self.expect
        if self.steps and (self.mix or own):
            raise ValueError("with steps, write requests and expect in each step")
        names = Counter(part.name for part in (*self.mix, *self.steps))
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise ValueError(f"two parts are named {twice}: give them different names")
        several = self.mix or self.steps
        if not several and not self.is_request and self.name != REQUEST:
            raise ValueError(NO_REQUEST)
        return self

    def is_for(self, service: ExternalService) -> bool:
        """Whether it can be sent to the service; for a mix or steps, whether each part can."""
        several = (*self.mix, *self.steps)
        if not several:
            return super().is_for(service)
        return all(part.is_for(service) for part in several)

    @property
    def requests(self) -> tuple[ExternalMessage | ExternalPart | ExternalStep, ...]:
        """The parts or steps; the message itself if it has none."""
        return self.mix or self.steps or (self,)

    @property
    def problem(self) -> str:
        """As for one request; of the first part that has one."""
        problems = (part.problem for part in (*self.mix, *self.steps))
        return next(filter(None, problems), "") or super().problem or self._problem_of_values()

    def _problem_of_values(self) -> str:
        """Why values that differ from call to call have no place; empty if they have."""
        for request in self.requests:
            carried = request.carry if isinstance(request, ExternalStep) else ()
            if request.protobuf is not None and (self.data or request.data or carried):
                return (
                    f"protobuf of {request.name}: its bytes are made once, so that data and carry "
                    "cannot change them; send the body as JSON, or leave these out"
                )
        return ""

    @property
    def contract(self) -> str:
        """Used in place of a contract's name."""
        return CONTRACT

    @property
    def bytes(self) -> int:
        """Size of its content; 0 for a mix, or if the service declares the request."""
        return len(self.content) if not self.problem else 0

    @property
    def has_own_name(self) -> bool:
        """Whether the name is not that of an operation."""
        return True

    @property
    def called(self) -> tuple[str, ...]:
        """Operations of a contract in it: none."""
        return ()

    @property
    def hello_sizes(self) -> frozenset[int]:
        """None; only wirelab's services have a text of Hello."""
        return frozenset()

    @property
    def chunk(self) -> int | None:
        """None; only wirelab's services have streams of chunks."""
        return None

    @property
    def data_problem(self) -> str:
        """Why the content cannot be read; empty if it can."""
        return self.problem

    def point(self) -> Json:
        """As for one request; for a mix or steps, those of all parts."""
        if self.steps:
            steps = [{"name": step.name, **step.point()} for step in self.steps]
            return {"steps": steps, **super().point()}
        if not self.mix:
            return super().point()
        parts = [{"name": p.name, "weight": p.weight, **p.point()} for p in self.mix]
        return {"mix": parts}


OWN_REQUEST = ExternalMessage(name=REQUEST)
"""The message of a service that declares its own request."""
