"""Certificates for TLS trials: made once, by the engine, for this machine alone."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wirelab.errors import LabError
from wirelab.process import engine_binary

MADE_S_MAX = 30.0
"""Seconds that the engine may take to make them."""

Json = dict[str, Any]


@dataclass(frozen=True)
class Certificates:
    """The folder that ``wirelab-engine certificates`` fills. All files are PEM (RFC 7468)."""

    folder: Path

    def of_service(self, security: str) -> Json:
        """The object ``tls`` of a service's configuration; empty without security."""
        if security == "none":
            return {}
        files = {"certificate": self._path("server.pem"), "key": self._path("server.key")}
        return {**files, "client_ca": self._path("ca.pem")} if security == "mtls" else files

    def of_client(self, security: str) -> Json:
        """The object ``tls`` of a group in the engine's plan; empty without security. The
        server's certificate is for the name ``localhost``, whatever the address."""
        if security == "none":
            return {}
        files = {"ca": self._path("ca.pem"), "server_name": "localhost"}
        if security == "tls":
            return files
        return {**files, "certificate": self._path("client.pem"), "key": self._path("client.key")}

    def _path(self, name: str) -> str:
        return str(self.folder / name)


def make(folder: Path) -> Certificates:
    """Has the engine make an authority, and certificates of a server and of a client.
    Raises :class:`LabError` where it cannot."""
    engine = engine_binary.find()
    done = subprocess.run(
        [engine, "certificates", str(folder)],
        capture_output=True,
        text=True,
        timeout=MADE_S_MAX,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise LabError(
            f"the engine made no certificates: {said[-1] if said else 'it said nothing'}",
            "is the folder for temporary files writable? Is the engine up to date (`make setup`)?",
        )
    return Certificates(folder)
