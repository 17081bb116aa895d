"""Servers whose certificate signed itself, as `openssl req -x509` makes it."""

from __future__ import annotations

import http.server
import json
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from wirelab.cli import main
from wirelab.errors import ExperimentError
from wirelab.experiment import loading
from wirelab.run import runner as running

pytestmark = pytest.mark.usefixtures("no_orphans", "real_engine")
Json = dict[str, Any]
CALLS = 20


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "2")
        self.end_headers()
        self.wfile.write(b"ok")


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "self.pem", folder / "self.key"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt"]
    command += ["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    command += ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return certificate, key


@pytest.fixture
def secure(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A URL, and the certificate of its server."""
    certificate, key = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"https://127.0.0.1:{server.server_port}/", certificate
        server.shutdown()
        thread.join()


def _drive(capsys: pytest.CaptureFixture[str], *arguments: str) -> Json:
    main(["drive", *arguments, "--calls", str(CALLS), "--json"])
    found: Json = json.loads(capsys.readouterr().out)
    return found


def test_it_is_accepted_where_it_is_given_or_nothing_is_checked(
    capsys: pytest.CaptureFixture[str], secure: tuple[str, Path], tmp_path: Path
) -> None:
    url, certificate = secure
    assert _drive(capsys, url, "--ca", str(certificate))["ok"] == CALLS
    assert _drive(capsys, url, "--insecure")["ok"] == CALLS
    refused = _drive(capsys, url)
    assert refused["ok"] == 0
    assert "--insecure" in " ".join(refused["hints"])
    (tmp_path / "other").mkdir()
    other, _ = _certificate(tmp_path / "other")
    assert _drive(capsys, url, "--ca", str(other))["ok"] == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["http://127.0.0.1:1/", "--insecure"], "--insecure needs TLS"),
        (["rest@rust", "--insecure"], "write ?security=tls"),
        (["https://127.0.0.1:1/", "--insecure", "--ca", __file__], "exclude each other"),
    ],
)
def test_insecure_is_refused_where_it_means_nothing(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["drive", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def _parse(folder: Path, url: str, tls: Json) -> Any:
    content = {
        "name": "own",
        "repeats": 1,
        "services": [{"name": "own", "url": url, "tls": tls}],
        "loads": [{"closed": {"users": 1}}],
        "window": {"calls": CALLS, "max": "10 s"},
        "warmup": {"min": "0 s", "max": "0 s"},
    }
    return loading.parse(yaml.safe_dump(content), str(folder / "x.yaml"))


@pytest.mark.parametrize("tls", [{"insecure": True}, {"ca": "self.pem"}])
def test_an_experiment_names_it_or_accepts_any(
    tmp_path: Path, secure: tuple[str, Path], tls: Json
) -> None:
    run = running.run(_parse(tmp_path, secure[0], tls), tmp_path / "run", source="")
    (trial,) = run.trials
    assert (trial.status, trial.result.ok) == ("measured", CALLS), trial.reason
    assert trial.point.service["tls"] == tls


def test_an_experiment_does_not_name_one_and_accept_any(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="ca has no effect"):
        _parse(tmp_path, "https://127.0.0.1:1/", {"insecure": True, "ca": "self.pem"})
