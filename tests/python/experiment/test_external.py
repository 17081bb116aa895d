"""Services that are not of the lab: started by a command or running at a URL, well or badly."""

from __future__ import annotations

import http.server
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.errors import EngineRefused, ExperimentError, RunDirectoryError, UsageError
from wirelab.experiment import loading as experiment_file
from wirelab.experiment.external import ExternalMessage, ExternalService
from wirelab.process import process_tree
from wirelab.records.trial import Trial
from wirelab.run import runner as running
from wirelab.run.runner import Run
from wirelab.stack.external import ExternalStack, parts

pytestmark = pytest.mark.usefixtures("no_orphans", "real_engine")

HTTP = """
import http.server, os, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_): pass
    def do_GET(self):
        body = self.path.encode()
        self.send_response(int(os.environ.get("STATUS", 200)))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        right = body == os.environ["EXPECTED"].encode()
        self.send_response(200 if right else 400)
        self.send_header("content-length", "0")
        self.end_headers()
"""
SERVE = 'http.server.ThreadingHTTPServer((os.environ["HOST"], int(os.environ["PORT"])), Handler)'


def _python(script: str) -> list[str]:
    return [sys.executable, "-c", script]


def _own(script: str, **keys: Any) -> dict[str, Any]:
    return {"name": "own", "command": _python(script), "http": {"path": "/"}, **keys}


def _run(out: Path, *services: Any, **keys: Any) -> Run:
    text = yaml.safe_dump(_content(*services, **keys))
    return running.run(experiment_file.parse(text, str(out.parent / "x.yaml")), out, source=text)


def _content(*services: Any, **keys: Any) -> dict[str, Any]:
    return {
        "name": "own",
        "repeats": 1,
        "services": list(services),
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 50, "max": "10 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
        **keys,
    }


def _only(run: Run) -> Trial:
    (trial,) = run.trials
    return trial


def _failure(out: Path, script: str, **keys: Any) -> str:
    keys = {"ready": {"within": "1500 ms"}, "stop": "500 ms", **keys}
    trial = _only(_run(out, _own(script, **keys)))
    assert trial.status == "failed"
    return trial.reason


def test_a_command_is_started_measured_and_stopped(tmp_path: Path) -> None:
    service = _own(f"{HTTP}\n{SERVE}.serve_forever()", ready={"http": "/healthz"})
    trial = _only(_run(tmp_path, service))
    assert (trial.status, trial.result.ok, trial.result.errors) == ("measured", 50, 0)
    assert trial.point.stack == "own"
    assert trial.service.cpu_s is not None
    assert trial.service.cpu_s > 0
    assert (trial.service.rss_max_bytes or 0) > 5_000_000
    assert trial.service.calls_seen is None  # it has no metrics of the lab


def test_each_trial_has_a_process_of_its_own_and_axes_of_the_caller(tmp_path: Path) -> None:
    service = _own(f"{HTTP}\n{SERVE}.serve_forever()")
    run = _run(tmp_path, service, axes={"connection": ["keep", "close"]}, repeats=2)
    assert {trial.point.stack for trial in run.trials} == {"own", "own?connection=close"}
    assert len({trial.service.pid for trial in run.trials}) == 4
    opened = {t.point.stack: t.result.connections_opened for t in run.trials}
    assert opened == {"own": 2, "own?connection=close": 50}


def test_cpu_is_that_of_all_processes(tmp_path: Path) -> None:
    busy = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass'])"
    script = f"{HTTP}\n{busy}\n{SERVE}.serve_forever()"
    window = {"duration": "2 s"}
    service = _own(script, ready={"http": "/"}, stop="1 s")
    load = [{"constant": {"rate": 10, "in_flight_max": 5}}]
    trial = _only(_run(tmp_path, service, window=window, loads=load, placement="unpinned"))
    assert trial.service.cpu_window_s is not None
    assert trial.service.cpu_window_s > 0.5  # its own part is some 10 ms


def test_content_is_sent_as_declared(tmp_path: Path) -> None:
    script = f"{HTTP}\n{SERVE}.serve_forever()"
    service = _own(script, env={"EXPECTED": '{"id":1}'}, http={"path": "/", "json": {"id": 1}})
    assert _only(_run(tmp_path / "a", service)).result.ok == 50
    messages = [{"name": "small", "json": {"id": 1}}, {"name": "other", "body": "x"}]
    run = _run(tmp_path / "b", service, messages=messages)
    ok = {trial.point.operation: trial.result.ok for trial in run.trials}
    assert ok == {"small": 50, "other": 0}


def test_messages_may_be_requests_of_their_own(tmp_path: Path) -> None:
    script = f"{HTTP}\n{SERVE}.serve_forever()"
    # Its own request is answered with 400: what succeeds is the message's.
    service = _own(script, env={"EXPECTED": "right"}, http={"path": "/", "body": "wrong"})
    messages = [
        {"name": "get", "path": "/a?b=1"},
        {"name": "get-by-method", "method": "GET"},
        {"name": "post", "method": "POST", "path": "/a", "body": "right"},
        {"name": "only-headers", "headers": {"x-a": "b"}},
    ]
    run = _run(tmp_path, service, messages=messages)
    ok = {trial.point.operation: trial.result.ok for trial in run.trials}
    assert ok == {"get": 50, "get-by-method": 50, "post": 50, "only-headers": 0}
    options = {trial.point.operation: trial.point.options["message"] for trial in run.trials}
    assert options["get"] == {"path": "/a?b=1"}
    assert options["post"]["method"] == "POST"


def test_a_message_has_its_headers_over_the_services() -> None:
    service = ExternalService.model_validate(
        {"name": "own", "command": ["x"], "http": {"headers": {"X-A": "1", "x-b": "2"}}}
    )
    message = ExternalMessage(name="m", path="/p", headers={"x-a": "3"})
    workload = service.workload(message)
    assert workload["headers"] == [["x-b", "2"], ["x-a", "3"]]
    assert (workload["method"], workload["path"]) == ("GET", "/p")


def test_a_message_names_its_grpc_method_and_is_for_its_protocol() -> None:
    grpc = ExternalService.model_validate(
        {"name": "g", "command": ["x"], "grpc": {"method": "a.B/C", "body": "x"}}
    )
    http = ExternalService.model_validate({"name": "h", "command": ["x"], "http": {}})
    named = ExternalMessage(name="m", grpc="a.B/D")
    workload = grpc.workload(named)
    assert (workload["method"], workload["body_base64"]) == ("/a.B/D", "")
    assert (named.is_for(grpc), named.is_for(http)) == (True, False)
    requested = ExternalMessage(name="m", path="/p")
    assert (requested.is_for(grpc), requested.is_for(http)) == (False, True)
    both = ExternalMessage(name="m", path="/p", grpc="a.B/D")
    assert both.is_for(grpc)
    assert both.is_for(http)


def test_a_service_without_any_message_for_it_is_refused() -> None:
    with pytest.raises(
        ExperimentError, match="no message can be sent to service own: write one with path"
    ):
        experiment_file.parse(
            yaml.safe_dump(
                {
                    "name": "own",
                    "services": [{"name": "own", "command": ["x"], "http": {}}],
                    "messages": [{"name": "m", "grpc": "a.B/C"}],
                    "loads": [{"closed": {"users": 2}}],
                    "window": {"calls": 50},
                }
            )
        )


def test_a_status_other_than_success_is_an_error(tmp_path: Path) -> None:
    service = _own(f"{HTTP}\n{SERVE}.serve_forever()", env={"STATUS": "302"})
    trial = _only(_run(tmp_path, service))
    assert (trial.result.ok, trial.result.errors) == (0, 50)
    assert "302" in " ".join(trial.result.error_examples)


@pytest.fixture
def running_server() -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/a?b=1" else 404)
            self.send_header("content-length", "0")
            self.end_headers()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_bare_url_is_a_service(tmp_path: Path, running_server: str) -> None:
    trial = _only(_run(tmp_path, f"{running_server}/a?b=1"))
    assert (trial.status, trial.result.ok) == ("measured", 50)
    assert trial.service.cpu_s is None
    assert trial.service.rss_max_bytes is None


def test_cpu_of_a_url_is_that_of_its_pid(tmp_path: Path, running_server: str) -> None:
    service = {"name": "here", "url": f"{running_server}/a?b=1", "pid": os.getpid()}
    assert (_only(_run(tmp_path, service)).service.cpu_s or 0) > 0


def test_a_service_that_ends_at_once_is_reported(tmp_path: Path) -> None:
    reason = _failure(tmp_path, "import sys; sys.exit('no licence')")
    assert "exit code 1 (no licence) before it was ready" in reason


def test_a_command_without_port_is_named_if_its_port_is_in_use(tmp_path: Path) -> None:
    reason = _failure(tmp_path, "import sys; sys.exit('Address already in use')")
    assert "before it was ready; the command of service own has no {port}" in reason


def test_a_service_that_never_listens_is_reported(tmp_path: Path) -> None:
    reason = _failure(tmp_path, "import time; print('loading', flush=True); time.sleep(60)")
    assert re.search(r"was not ready after [\d.]+ s, the last [\d.]+ s without progress", reason)
    assert "last line: loading" in reason
    assert "it listens on no TCP port" in reason


def test_a_service_that_starts_slowly_is_waited_for(tmp_path: Path) -> None:
    spin = "import time; end = time.monotonic() + 3\nwhile time.monotonic() < end: pass"
    service = _own(f"{spin}\n{HTTP}\n{SERVE}.serve_forever()", ready={"within": "1 s"})
    assert _only(_run(tmp_path, service)).result.ok == 50


def test_the_command_line_sets_the_time_in_which_a_service_must_be_ready(tmp_path: Path) -> None:
    text = yaml.safe_dump(_content(_own("import time; time.sleep(60)", stop="500 ms")))
    experiment = experiment_file.parse(text, str(tmp_path / "x.yaml"))
    began = time.monotonic()
    run = running.run(experiment, tmp_path / "run", source=text, ready_timeout_s=2.0)
    assert "without progress" in _only(run).reason
    assert time.monotonic() - began < 25, "ready.within is 30 s"


def test_the_checks_of_readiness_are_not_progress(tmp_path: Path) -> None:
    """It prints every request, and the checks keep it busy."""
    answer = "sum(range(10**6)); print('asked', flush=True); self.send_error(503)"
    script = f"{HTTP}\ndef answer(self): {answer}\nHandler.do_GET = answer\n{SERVE}.serve_forever()"
    began = time.monotonic()
    reason = _failure(tmp_path, script, ready={"http": "/", "within": "1500 ms"})
    assert "without progress" in reason
    assert time.monotonic() - began < 12, "the bound is 15 s"


def test_a_service_on_another_port_is_reported(tmp_path: Path) -> None:
    script = "import socket, time; s = socket.create_server(('127.0.0.1', 0)); time.sleep(60)"
    assert re.search(
        r"it listens on 127\.0\.0\.1:\d+: pass \{port\} to the command", _failure(tmp_path, script)
    )


def test_a_service_on_ipv6_alone_is_found(tmp_path: Path) -> None:
    serve = (
        "import socket\nclass Server(http.server.ThreadingHTTPServer):\n"
        "    address_family = socket.AF_INET6\n"
        'Server(("::1", int(os.environ["PORT"])), Handler).serve_forever()'
    )
    trial = _only(_run(tmp_path, _own(f"{HTTP}\n{serve}")))
    assert trial.result.ok == 50
    assert (trial.service.address or "").startswith("[::1]:")


def test_a_service_is_ready_when_it_prints_so(tmp_path: Path) -> None:
    script = (
        f"{HTTP}\nserver = {SERVE}\nprint('up and', 'running', flush=True)\nserver.serve_forever()"
    )
    ready = {"log": "^up and running$", "within": "5 s"}
    assert _only(_run(tmp_path / "a", _own(script, ready=ready))).result.ok == 50
    ready = {"log": "something else", "within": "1 s"}
    reason = _failure(tmp_path / "b", script, ready=ready)
    assert "no printed line matches 'something else'" in reason


def test_a_service_that_answers_its_check_with_an_error_is_not_ready(tmp_path: Path) -> None:
    script = f"{HTTP}\n{SERVE}.serve_forever()"
    ready = {"http": "/healthz", "within": "1 s"}
    reason = _failure(tmp_path, script, env={"STATUS": "503"}, ready=ready)
    assert "GET /healthz returned status 503" in reason


def test_processes_that_hide_or_ignore_sigterm_are_ended(tmp_path: Path) -> None:
    script = (
        f"{HTTP}\nimport signal, subprocess\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(300)'], "
        f"start_new_session=True)\n{SERVE}.serve_forever()"
    )
    begun = time.monotonic()
    trial = _only(_run(tmp_path, _own(script, stop="500 ms")))
    assert trial.result.ok == 50
    assert time.monotonic() - begun < 15
    # no_orphans looks whether anything is left.


DAEMON = """
import os, sys, time
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(300)
"""


def test_a_daemon_that_left_its_parent_before_the_service_was_ready_is_ended(
    tmp_path: Path,
) -> None:
    """As `pg_ctl start` and other daemons do in a start script."""
    daemon = f"import subprocess; subprocess.run([sys.executable, '-c', {DAEMON!r}], check=True)"
    service = _own(f"{HTTP}\n{daemon}\n{SERVE}.serve_forever()", stop="500 ms")
    assert _only(_run(tmp_path, service)).result.ok == 50
    # no_orphans looks whether anything is left.


def test_processes_of_a_killed_lab_are_ended_before_the_next_trial() -> None:
    def start(owner: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, process_tree.MARK: owner}
        return subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1, env=environment)

    own, other = start(process_tree.new_mark(1)), start("4194304.1.1")
    with own, other:
        process_tree.sweep()
        assert other.wait(10) == -signal.SIGKILL
        assert own.poll() is None
        own.kill()


@pytest.mark.skipif(os.geteuid() != 0, reason="process namespaces need root")
def test_processes_of_a_lab_in_another_namespace_are_not_ended() -> None:
    """There the lab's process id is another one, so that it only looks dead from here."""
    mark = {process_tree.MARK: f"{os.getpid()}.1.1"}
    command = ["unshare", "--pid", "--fork", "sleep", "30"]
    with subprocess.Popen(command, env={**os.environ, **mark}) as outer:
        children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
        deadline = time.monotonic() + 5
        while not (inner := children.read_text().split()) and time.monotonic() < deadline:
            time.sleep(0.01)
        (pid,) = map(int, inner)
        try:
            process_tree.sweep()
            assert outer.wait(timeout=5) == -signal.SIGKILL  # it is of our namespace itself
            os.kill(pid, 0)
        finally:
            os.kill(pid, signal.SIGKILL)


def test_a_program_that_is_not_there_is_reported(tmp_path: Path) -> None:
    trial = _only(_run(tmp_path, {"name": "own", "command": ["no-such-program"], "http": {}}))
    assert "program no-such-program does not exist" in trial.reason


@pytest.mark.parametrize(
    ("service", "said"),
    [
        ({"name": "a"}, "either command or url"),
        ({"name": "a", "command": ["x"]}, "the request is missing: add http"),
        ({"name": "a", "command": ["x"], "http": {}, "grpc": {"method": "a.B/C"}}, "http or grpc"),
        ({"name": "a", "command": ["x"], "http": {"body": "a", "json": 1}}, "one of body"),
        ({"name": "a", "command": ["x"], "http": {"body_file": "none"}}, "No such file"),
        ({"name": "a", "command": ["x"], "grpc": {"method": "a.B/C", "json": {}}}, "grpc.proto"),
        ({"name": "A B", "command": ["x"], "http": {}}, "lower-case letters"),
        ({"name": "a", "command": ["x"], "http": {}, "ready": {"log": "("}}, "regular expression"),
        (
            {"name": "a", "url": "http://127.0.0.1:1/", "env": {"A": "b"}},
            "env applies to command only",
        ),
        (
            {"name": "a", "url": "http://127.0.0.1:1/", "ready": {"log": "x"}},
            "ready.log applies to command only",
        ),
        ({"name": "a", "command": ["x"], "http": {}, "tls": {"ca": "none.pem"}}, "tls.ca:"),
        ({"name": "a", "command": ["x"], "http": {"paht": "/"}}, "Did you mean 'path'"),
        ("ftp://127.0.0.1/", "unknown scheme"),
        ("grpc://127.0.0.1:1", "names no method"),
    ],
)
def test_impossible_services_are_refused_with_file_and_line(
    tmp_path: Path, service: Any, said: str
) -> None:
    content = {
        "name": "own",
        "services": [service],
        "loads": [{"closed": {"users": 2}}],
        "window": {"calls": 50},
    }
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump(content))
    with pytest.raises(ExperimentError, match=re.escape(said)) as refused:
        experiment_file.load(path)
    assert "x.yaml:" in str(refused.value)


def test_other_machines_are_loaded_only_where_that_is_allowed_twice(tmp_path: Path) -> None:
    text = yaml.safe_dump(
        {
            "name": "far",
            "services": ["http://192.0.2.1/"],
            "loads": [{"closed": {"users": 2}}],
            "window": {"duration": "1 s"},
        }
    )
    far = experiment_file.parse(text)
    with pytest.raises(UsageError, match=r"192\.0\.2\.1 is not on this machine"):
        running.run(far, tmp_path / "a", source=text)
    with pytest.raises(UsageError, match="not on this machine"):
        running.run(far, tmp_path / "a", source=text, any_target=True)
    allowed = far.model_copy(update={"allow_targets": ("192.0.2.1",)})
    with pytest.raises(UsageError, match="without a bound on its calls"):
        running.run(allowed, tmp_path / "a", source=text, any_target=True)


PROTO = """\
syntax = "proto3";
package shop;
service Orders { rpc Place(Order) returns (Receipt); }
message Order { string item = 1; int32 count = 2; }
message Receipt { int32 count = 1; }
"""
GRPC = """
import os, time
from concurrent import futures
import grpc
class Generic(grpc.GenericRpcHandler):
    begun = time.monotonic()
    def service(self, details):
        if details.method == "/grpc.health.v1.Health/Check":
            return grpc.unary_unary_rpc_method_handler(self.health)
        if details.method == "/shop.Orders/Place":
            return grpc.unary_unary_rpc_method_handler(self.place)
    def health(self, request, context):
        if time.monotonic() - self.begun < float(os.environ.get("DELAY", 0)):
            context.abort(grpc.StatusCode.UNAVAILABLE, "still loading")
        return bytes([8, int(os.environ.get("SERVING", 1))])
    def place(self, request, context):
        if request != b"\\x0a\\x03pen\\x10\\x02":
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, repr(request))
        return b"\\x08\\x02"
server = grpc.server(futures.ThreadPoolExecutor(4))
server.add_generic_rpc_handlers((Generic(),))
server.add_insecure_port(f"{os.environ['HOST']}:{os.environ['PORT']}")
server.start()
server.wait_for_termination()
"""


def _orders(folder: Path, **keys: Any) -> dict[str, Any]:
    (folder / "shop.proto").write_text(PROTO)
    method = {"method": "shop.Orders/Place", "proto": "shop.proto"}
    content = {"json": {"item": "pen", "count": 2}}
    grpc = {**method, **content}
    return {"name": "orders", "command": _python(GRPC), "grpc": grpc, "stop": "1 s", **keys}


def test_a_service_of_grpc_is_called_by_its_proto(tmp_path: Path) -> None:
    trial = _only(_run(tmp_path / "run", _orders(tmp_path)))
    assert (trial.status, trial.result.ok, trial.result.errors) == ("measured", 50, 0)
    assert trial.point.axes.binding == "grpc"


def test_grpc_health_is_waited_for(tmp_path: Path) -> None:
    ready = {"grpc": True, "within": "20 s"}
    slow = _orders(tmp_path, ready=ready, env={"DELAY": "1.5"})
    assert _only(_run(tmp_path / "a", slow)).result.ok == 50
    ready = {"grpc": True, "within": "1500 ms"}
    refusing = _orders(tmp_path, ready=ready, env={"SERVING": "2"})
    assert "its health is not SERVING" in _only(_run(tmp_path / "c", refusing)).reason
    never = _orders(tmp_path, ready=ready, env={"DELAY": "99"})
    assert "its health is not SERVING" in _only(_run(tmp_path / "b", never)).reason


def test_a_field_that_the_proto_does_not_have_is_reported(tmp_path: Path) -> None:
    service = _orders(tmp_path)
    service["grpc"]["json"] = {"itme": "pen"}
    with pytest.raises(EngineRefused, match="itme"):
        _run(tmp_path / "run", service)


@pytest.mark.skipif(os.geteuid() != 0, reason="links need root")
def test_a_service_works_at_the_end_of_a_link(tmp_path: Path) -> None:
    service = _own(f"{HTTP}\n{SERVE}.serve_forever()", ready={"http": "/"})
    link = {"name": "slow", "both": {"delay_ms": 5}}
    trial = _only(_run(tmp_path, service, links=[link], capture="client"))
    assert (trial.status, trial.result.ok) == ("measured", 50)
    assert (trial.time_ns("response", "p50") or 0) > 9e6
    assert trial.wire is not None
    assert trial.wire.exchanges >= 50


def test_credentials_are_not_in_records(tmp_path: Path) -> None:
    secret = "hunter2-of-our-shop"
    service = _own(
        f"{HTTP}\n{SERVE}.serve_forever()",
        env={"TOKEN": secret},
        http={"path": "/", "headers": {"authorization": secret}},
    )
    other = {"name": "other", "path": "/x", "headers": {"x-key": secret}}
    messages = [other, {"name": "mixed", "mix": [other, {**other, "name": "again"}]}]
    run = _run(tmp_path / "run", service, messages=messages)
    assert [trial.result.ok for trial in run.trials] == [50, 50]
    kept = [path for path in run.folder.rglob("*") if path.is_file()]
    holding = {path.name for path in kept if secret.encode() in path.read_bytes()}
    assert holding == {"experiment.yaml", "manifest.json"}  # the file as it was written


def test_a_run_does_not_go_on_with_other_content(tmp_path: Path) -> None:
    (tmp_path / "body.txt").write_text("one")
    service = _own(
        f"{HTTP}\n{SERVE}.serve_forever()",
        env={"EXPECTED": "one"},
        http={"path": "/", "body_file": "body.txt"},
    )
    assert _only(_run(tmp_path / "run", service)).result.ok == 50
    (tmp_path / "body.txt").write_text("two")
    with pytest.raises(RunDirectoryError, match="another experiment"):
        _run(tmp_path / "run", service)


def test_a_url_is_at_no_end_of_a_link(tmp_path: Path, running_server: str) -> None:
    with pytest.raises(ExperimentError, match="cannot be moved to an end of link lan"):
        _run(tmp_path, f"{running_server}/a?b=1", links="lan")


def test_findings_of_own_services_are_not_tested() -> None:
    text = yaml.safe_dump(
        {
            "name": "own",
            "services": ["http://127.0.0.1:1/"],
            "loads": [{"closed": {"users": 2}}],
            "window": {"calls": 50},
            "capture": "client",
            "test_findings": True,
        }
    )
    with pytest.raises(ExperimentError, match="test_findings changes switches"):
        experiment_file.parse(text)


def test_the_query_of_a_url_stays_in_its_name() -> None:
    stack = ExternalStack.declare("http://h/a?limit=10", {"binding": "rest"})
    closed = stack.with_axes({"connection": "close"})
    assert parts(stack.reference) == ("http://h/a?limit=10", {})
    assert parts(closed.reference) == ("http://h/a?limit=10", {"connection": "close"})
    assert closed.with_axes({"connection": "keep"}).reference == stack.reference


@pytest.mark.parametrize("query", ["compression=gzip", "start=10", "connection=", "codec=json"])
def test_a_query_that_reads_like_an_axis_stays_in_the_name(query: str) -> None:
    stack = ExternalStack.declare(f"http://h/?{query}", {"binding": "rest"})
    closed = stack.with_axes({"connection": "close"})
    assert parts(stack.reference) == (f"http://h/?{query}", {})
    assert closed.reference == f"http://h/?{query}?connection=close"
    assert parts(closed.reference) == (f"http://h/?{query}", {"connection": "close"})
    assert closed.with_axes({"connection": "keep"}).reference == stack.reference


def test_an_address_with_the_query_of_an_axis_keeps_it_next_to_a_change() -> None:
    stack = ExternalStack.declare("http://h/?connection=close", {"binding": "rest"})
    assert stack.with_axes({"client.nagle": "on"}).reference == (
        "http://h/?connection=close?client.nagle=on"
    )


def test_the_example_of_own_services_runs_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FastAPI and grpcio, which are in the environment of the tests."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    path = Path(__file__).parents[3] / "experiments" / "own-services.yaml"
    experiment = experiment_file.load(path)
    window = experiment.window.model_copy(update={"duration": 0.3})
    short = experiment.model_copy(update={"repeats": 1, "window": window})
    run = running.run(short, tmp_path / "run", source=path.read_text())
    found = {(t.point.stack, t.point.load.users, t.status) for t in run.trials}
    names = ("orders-rest", "orders-grpc")
    assert found == {(name, users, "measured") for name in names for users in (1, 16)}
    assert all(trial.result.ok and not trial.result.errors for trial in run.trials)
