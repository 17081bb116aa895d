"""Keys for signed and encrypted messages of SOAP: a file of PKCS #12 by the JDK's keytool."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import LabError

PASSWORD = "wirelab"
"""Of the file, which is as secret as its folder: the user's own, removed when the run ends."""

ENDS = ("service", "caller")
KEY = ("-keyalg", "RSA", "-keysize", "2048", "-sigalg", "SHA256withRSA", "-validity", "2")
"""2,048 bits and two days. RSA, because it signs and also transports keys of encryption (XML
Encryption 1.1, section 5.5)."""

TOOL_S_MAX = 300.0
"""Time limit of one call of keytool, seconds. It takes 1 s where a core is free."""


@dataclass(frozen=True)
class Keystore:
    """A file with a key for each end and a certificate that each key has signed itself. The entries
    have the names of the ends: each uses its own key and trusts the other's certificate."""

    path: Path

    def configuration(self) -> dict[str, str]:
        """The object ``keystore`` of a service's configuration and of a caller's plan."""
        return {"path": str(self.path), "password": PASSWORD}


def make_keystore(folder: Path) -> Keystore:
    """Creates the folder, with keys for a service and a caller. Raises :class:`LabError`."""
    keytool = shutil.which("keytool")
    if keytool is None:
        raise LabError(
            "keys for signed messages cannot be created: keytool is not in PATH",
            "install a JDK, 17 or newer (Debian: openjdk-17-jdk-headless)",
        )
    folder.mkdir(mode=0o700, exist_ok=True)
    path = folder / "messages.p12"
    path.unlink(missing_ok=True)  # of an attempt that failed
    for end in ENDS:
        names = ("-alias", end, "-dname", f"CN=wirelab {end}", "-keystore", str(path))
        _run([keytool, "-genkeypair", *KEY, *names])
    return Keystore(path)


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(
            [*command, "-storetype", "PKCS12", "-storepass", PASSWORD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TOOL_S_MAX,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LabError(f"keytool created no keys: {error}", "check the JDK") from error
    if done.returncode != 0:
        said = done.stdout.decode(errors="replace").strip().splitlines()
        raise LabError(
            f"keytool created no keys: {said[-1] if said else 'it printed nothing'}",
            "make the folder for temporary files writable, and check the JDK",
        )
