"""The services in Go and Java, built before tests run next to each other."""

from __future__ import annotations

from contextlib import suppress

from wirelab.errors import BuildError, EngineMissing, StackError
from wirelab.process.interruption import Interruption
from wirelab.process.services import Programs
from wirelab.stack import manifests
from wirelab.stack.reference import Stack


def build_services() -> None:
    """Otherwise a test would wait for the build of another worker until it times out. What
    cannot be built is reported by the tests that need it."""
    programs = Programs(manifests.load())
    for language in ("go", "java"):
        with suppress(BuildError, EngineMissing, StackError):
            programs.program(Stack.parse(f"rest@{language}"), Interruption())
