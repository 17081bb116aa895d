"""The languages for which services are generated."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from wirelab.contracts.schema import Contract
from wirelab.generate import dynamic
from wirelab.generate.project import STACKS, Project
from wirelab.process.build_progress import OnBuild, ignore
from wirelab.process.interruption import Interruption


class _Generator(Protocol):
    """What the module of a language has."""

    def write_project(
        self, contract: Contract, proto: str, descriptors: bytes, folder: Path
    ) -> Project: ...


@dataclass(frozen=True)
class Language:
    """One language; its generator is loaded when it is used."""

    name: str

    @property
    def is_dynamic(self) -> bool:
        """Whether its services are dynamic code here, for want of a compiler."""
        return self.name == "rust" and shutil.which("cargo") is None

    @property
    def stacks(self) -> tuple[tuple[str, str], ...]:
        """Bindings and codecs that its services serve here."""
        return dynamic.STACKS if self.is_dynamic else STACKS

    @property
    def _generator(self) -> _Generator:
        return cast("_Generator", import_module(f"wirelab.generate.{self.name}"))

    def build(
        self,
        contract: Contract,
        proto: str,
        folder: Path,
        interruption: Interruption,
        on_build: OnBuild = ignore,
    ) -> Project:
        """Writes the sources into ``folder``, for their reader, and builds them in the cache,
        unless the same ones were built before. Dynamic code needs no build. Raises
        :class:`WirelabError`."""
        from wirelab.contracts.descriptors import descriptor_set
        from wirelab.generate.build import build_service

        descriptors = descriptor_set(contract)
        if self.is_dynamic:
            from wirelab.process import rust_programs

            program = rust_programs.program("wirelab-rust-service", interruption, on_build)
            return dynamic.write_project(contract, proto, descriptors, folder, program)
        if self.name == "java":
            from wirelab.generate import java_tools

            # Its libraries may have to be built and its compilers fetched, with progress.
            java_tools.find(interruption, on_build)

        def write(into: Path) -> Project:
            into.mkdir(parents=True, exist_ok=True)
            return self._generator.write_project(contract, proto, descriptors, into)

        write(folder)
        return build_service(self.name, contract, write, interruption, on_build)


LANGUAGES = MappingProxyType({name: Language(name) for name in ("go", "java", "rust")})
"""By name."""
