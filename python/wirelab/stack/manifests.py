"""The manifest of each service: ``services/<language>/service.json``.

The manifest names the language, the build requirements, the commands to build and start, and
the supported stacks. Adding a language needs only this file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from wirelab import installation
from wirelab.errors import LabError, StackError
from wirelab.stack.axes import BY_NAME, full_codecs
from wirelab.stack.reference import Stack
from wirelab.stack.suggestions import did_you_mean

NEEDS_OPTION: Mapping[str, tuple[str, str]] = {
    "server.nagle": ("nagle", "off"),
    "server.writes": ("writes", "joined"),
    "server.tcp_window": ("tcp_window", "kernel"),
    "server.h2_window": ("h2_window", "library"),
    "close_delay": ("close_delay", "0"),
}
"""Axes that need a switch in the service: name of the switch, value that needs none."""


PETCLINIC_AXES: tuple[str, ...] = ("repository", "fetch", "mapper", "validation")
"""Axes inside a petclinic service: ``options`` in its configuration."""

STORED_CONTRACTS = ("records", "petclinic")
"""Contracts whose services store rows as the axis ``store`` selects."""


Seconds = Annotated[float, msgspec.Meta(gt=0)]


class Served(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a service offers for one binding."""

    binding: str
    codecs: tuple[str, ...]
    transports: tuple[str, ...]
    compression: tuple[str, ...] = ("none",)
    soap: tuple[str, ...] = ("1.1",)
    """Versions of SOAP; unused if the binding is not soap."""
    security: tuple[str, ...] = ("none",)
    sockets: tuple[str, ...] = ("tcp",)
    end_of_message: tuple[str, ...] = ("content-length",)
    http_cache: tuple[str, ...] = ("none",)
    """Unused if the contract is not transfer."""
    flushes: tuple[str, ...] = ("item",)
    """Unused if the contract is not stream."""
    replies: tuple[str, ...] = ("two-way",)
    token_cache: tuple[str, ...] = ("names",)
    """Unused if the codec is not token-xml."""
    contracts: tuple[str, ...] = ("transfer",)
    stores: tuple[str, ...] = ("memory",)
    """Unused if the contract stores no rows."""
    repositories: tuple[str, ...] = ("data-jpa",)
    """Unused if the contract is not petclinic, like the next three. A service that lists none of
    them does not have the option."""
    fetches: tuple[str, ...] = ("eager",)
    mappers: tuple[str, ...] = ("on",)
    validations: tuple[str, ...] = ("on",)
    parsers: tuple[str, ...] = ("default",)
    """XML parsers for requests; unused if the binding is not soap."""
    ws_security: tuple[str, ...] = ("none", "username-token")
    """Unused if the binding is not soap."""
    codec_times: bool = False
    """Whether it can time the codec of its replies (docs/reference/process.md)."""
    server_options: tuple[str, ...] = ()


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One service of one language."""

    language: str
    start: tuple[str, ...]
    """Command; ``{out}`` is the result of ``build``, ``{programs}/NAME`` a program in Rust of
    wirelab."""
    serves: tuple[Served, ...]
    start_with_database: tuple[str, ...] = ()
    """Command for stacks that store rows elsewhere than in memory; empty: ``start``."""
    requires: tuple[str, ...] = ()
    """Programs that the build needs in PATH."""
    build: tuple[str, ...] = ()
    """Command, run in the manifest's folder; ``{out}`` is the file or folder to create,
    ``{version}`` the version of wirelab."""
    build_seconds: Seconds | None = None
    """Usual time of the first build on two cores, seconds."""
    faults: tuple[str, ...] = ()
    """Fault switches; ``*`` means all of them."""
    remedy: str = ""
    """What to do if a program in ``requires`` is missing."""
    needs: tuple[str, ...] = ()
    """Programs that it needs in PATH to run."""
    collector: dict[str, object] = msgspec.field(default_factory=dict)
    """Garbage collector settings if the experiment has none."""
    gaps: dict[str, str] = msgspec.field(default_factory=dict)
    """Bindings, codecs of a binding as ``connect json``, and values of an axis as
    ``sse flush=library``, that it does not serve and might be expected to, each with the reason."""

    @property
    def title(self) -> str:
        """Name of the program in messages."""
        return f"the service in {self.language}"

    @property
    def cache_name(self) -> str:
        """Name of its builds in the cache."""
        return self.language

    def unknown_faults(self, faults: Iterable[str]) -> list[str]:
        """Faults that the service has no switch for."""
        return [] if "*" in self.faults else sorted(set(faults) - set(self.faults))

    def times_codec(self, stack: Stack, contract: str) -> bool:
        """Whether the service can time the codec of its replies; codec text is excluded."""
        axes = stack.axes
        return axes.codec != "text" and any(
            served.codec_times
            and served.binding == axes.binding
            and axes.codec in served.codecs
            and contract in served.contracts
            for served in self.serves
        )

    def refusal(self, stack: Stack, contract: str) -> tuple[str, dict[str, str]] | None:
        """Why this service cannot run the stack, with a change that it can run; None if it can."""
        axes = stack.axes
        offers = [served for served in self.serves if served.binding == axes.binding]
        if not offers:
            names = ", ".join(sorted({served.binding for served in self.serves}))
            reason = f"{self.language} supports {names}, not {axes.binding}"
            return self._add_explanation(reason, axes.binding), {}
        # A binding may be offered in parts by codec: report the refusal of the matching part.
        meant = [served for served in offers if axes.codec in served.codecs]
        refusals = [_refusal(served, stack, contract) for served in meant or offers]
        if None in refusals or refusals[0] is None:
            return None
        reason, change = refusals[0]
        if not meant:
            reason = self._add_explanation(reason, f"{axes.binding} {axes.codec}")
        for axis in change:
            reason = self._add_explanation(reason, f"{axes.binding} {axis}={stack.value(axis)}")
        return reason, change

    def _add_explanation(self, reason: str, missing: str) -> str:
        gap = self.gaps.get(missing)
        return f"{reason}: {gap}" if gap else reason


class CallerManifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One caller: ``services/<language>/caller.json``. The rules of the axis ``caller`` define what
    it can call."""

    caller: str
    """Value of the axis."""
    start: tuple[str, ...]
    """Command; ``{out}`` is the result of ``build``."""
    requires: tuple[str, ...] = ()
    """Programs that the build needs in PATH."""
    build: tuple[str, ...] = ()
    """Same as :attr:`Manifest.build`."""
    build_seconds: Seconds | None = None
    """Same as :attr:`Manifest.build_seconds`."""
    remedy: str = ""
    """What to do if a program in ``requires`` is missing."""
    needs: tuple[str, ...] = ()
    """Same as :attr:`Manifest.needs`."""

    @property
    def title(self) -> str:
        """Name of the program in messages."""
        return f"the caller in {self.caller}"

    @property
    def cache_name(self) -> str:
        """Name of its builds in the cache."""
        return f"{self.caller}-caller"


def callers(folder: Path | None = None) -> dict[str, tuple[CallerManifest, Path]]:
    """Every ``services/*/caller.json`` with its folder, by value of the axis ``caller``. Raises
    :class:`LabError` for an invalid file."""
    services = folder if folder is not None else installation.folder("services")
    found = {}
    for path in sorted(services.glob("*/caller.json")):
        try:
            manifest = msgspec.json.decode(path.read_bytes(), type=CallerManifest)
        except ValueError as error:
            message = f"{path} is not a caller manifest: {error}"
            raise LabError(message, "correct that file") from error
        found[manifest.caller] = (manifest, path.parent)
    return found


@dataclass(frozen=True)
class Catalogue:
    """All manifests of the installation."""

    by_language: Mapping[str, Manifest]
    folders: Mapping[str, Path]

    def find_manifest(self, stack: Stack) -> Manifest:
        """The manifest of the services in the stack's language. Raises :class:`StackError` if there
        are none."""
        language = stack.axes.language
        found = self.by_language.get(language)
        if found is None:
            raise StackError(
                f"{stack}: there are no services in {language!r}",
                did_you_mean(language, self.by_language),
            )
        return found

    def has(self, stack: Stack, contract: str) -> bool:
        """Whether a service implements this contract with this stack."""
        try:
            self.manifest(stack, contract)
        except StackError:
            return False
        return True

    def manifest(self, stack: Stack, contract: str = "transfer") -> Manifest:
        """The manifest of the service that implements this contract with this stack. Raises
        :class:`StackError` if there is none."""
        found = self.find_manifest(stack)
        refused = found.refusal(stack, contract)
        if refused is not None:
            reason, change = refused
            near = f"the nearest legal stack is {stack.find_nearest(change)}" if change else ""
            raise StackError(f"{stack} cannot be measured: {reason}", near)
        return found


def load(folder: Path | None = None) -> Catalogue:
    """Reads every ``services/*/service.json``. Raises :class:`LabError` for an invalid file."""
    services = folder if folder is not None else installation.folder("services")
    manifests = {path.parent: _read(path) for path in sorted(services.glob("*/service.json"))}
    if not manifests:
        raise LabError(
            f"no services/*/service.json in {services}", "check that the installation is complete"
        )
    return Catalogue(
        {manifest.language: manifest for manifest in manifests.values()},
        {manifest.language: path for path, manifest in manifests.items()},
    )


class _Entries(msgspec.Struct):
    """The entries of a manifest as written: what one does not state is as in ``defaults``; codecs
    are those of its binding that carry every message."""

    serves: tuple[dict[str, msgspec.Raw], ...]
    defaults: dict[str, msgspec.Raw] = msgspec.field(default_factory=dict)


def _complete(content: bytes) -> bytes:
    """A manifest whose entries state everything."""
    entries = msgspec.json.decode(content, type=_Entries)
    manifest = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    manifest.pop("defaults", None)
    serves = [_with_codecs(entries.defaults | stated) for stated in entries.serves]
    return msgspec.json.encode({**manifest, "serves": serves})


def _with_codecs(entry: dict[str, msgspec.Raw]) -> dict[str, msgspec.Raw]:
    if "codecs" in entry or "binding" not in entry:
        return entry
    binding = msgspec.json.decode(entry["binding"], type=str)
    return {**entry, "codecs": msgspec.Raw(msgspec.json.encode(full_codecs(binding)))}


def _read(path: Path) -> Manifest:
    try:
        return msgspec.json.decode(_complete(path.read_bytes()), type=Manifest)
    except ValueError as error:
        raise LabError(f"{path} is not a service manifest: {error}", "correct that file") from error


def _refusal(served: Served, stack: Stack, contract: str) -> tuple[str, dict[str, str]] | None:
    axes = stack.served
    name, texts = f"{axes.binding}@{axes.language}", axes.texts
    for axis in PETCLINIC_AXES:
        if texts[axis] != BY_NAME[axis].default and contract != "petclinic":
            reason = f"axis {axis} applies only to contract petclinic, not to {contract}"
            return reason, {axis: BY_NAME[axis].default}
    for axis, offered in (
        ("codec", served.codecs),
        ("soap", served.soap if axes.binding == "soap" else (axes.soap,)),
        ("transport", served.transports),
        ("compression", served.compression),
        ("security", served.security),
        ("socket", served.sockets),
        ("end_of_message", served.end_of_message),
        ("http_cache", served.http_cache),
        ("flush", served.flushes),
        ("reply", served.replies),
        ("token_cache", served.token_cache),
        ("store", served.stores),
        ("repository", served.repositories),
        ("fetch", served.fetches),
        ("mapper", served.mappers),
        ("validation", served.validations),
        ("parser", served.parsers),
        ("ws_security", served.ws_security),
    ):
        if texts[axis] not in offered:
            reason = f"{name} supports {axis} {', '.join(offered)}, not {texts[axis]}"
            behind = axis == "transport" and texts[axis] != stack.value(axis)
            return reason, {"via_upstream" if behind else axis: offered[0]}
    for axis, (option, without) in NEEDS_OPTION.items():
        if texts[axis] != without and option not in served.server_options:
            return f"{name} has no switch for {axis}", {axis: without}
    if contract not in served.contracts:
        return f"{name} supports contract {', '.join(served.contracts)}, not {contract}", {}
    if axes.store != "memory" and contract not in STORED_CONTRACTS:
        reason = f"contract {contract} stores no rows"
        return f"{reason}; use {', '.join(STORED_CONTRACTS)}", {"store": "memory"}
    if axes.http_cache != "none" and contract != "transfer":
        reason = f"no cache of HTTP keeps replies of {contract}, only those to transfer's Hello"
        return reason, {"http_cache": "none"}
    if axes.codec == "text" and contract != "transfer":
        return f"codec text does not support {contract} (contracts/README.md)", {"codec": "json"}
    return None
