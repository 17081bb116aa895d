"""A service in Java for a contract, as it is written by hand.

Plain classes carry JSON, CBOR and MessagePack (Jackson), XML (JAXB) and SOAP (Apache CXF); the
classes that protoc makes carry Protocol Buffers and gRPC (grpc-java). REST is a Spring Boot
application on Tomcat. All libraries are those of the lab's own service in Java.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2
from jinja2 import Environment, PackageLoader, StrictUndefined

from wirelab.contracts.names import xml_name
from wirelab.contracts.schema import Contract, Message
from wirelab.errors import UsageError
from wirelab.generate import java_tools
from wirelab.generate.java_fields import FieldWriter, JavaField
from wirelab.generate.java_names import (
    TEMPLATES,
    literal,
    safe_field_names,
    safe_values,
    take_types,
)
from wirelab.generate.project import Project

BUILD_SECONDS = 15.0
BATCH = 50
"""Fields that one method reads: the virtual machine does not compile methods above 8,000 bytes."""
LIBRARIES = {
    "rest": ("tomcat-embed-core", "spring-boot", "spring-webmvc", "jackson-databind",
             "jackson-dataformat-cbor", "jackson-dataformat-msgpack", "msgpack-core",
             "jaxb-runtime", "protobuf-java", "zstd-jni"),
    "soap": ("cxf-rt-frontend-jaxws", "woodstox-core"),
    "grpc": ("grpc-core", "grpc-netty-shaded", "grpc-protobuf"),
}  # fmt: skip
"""Libraries on the path of a call."""


@dataclass(frozen=True)
class JavaMessage:
    """A message as the templates need it."""

    name: str
    java_name: str
    rules_name: str
    is_root: bool
    fields: tuple[JavaField, ...]
    oneofs: tuple[tuple[str, tuple[JavaField, ...]], ...]

    @property
    def batches(self) -> list[tuple[JavaField, ...]]:
        """The fields in parts, at least one."""
        starts = range(0, max(1, len(self.fields)), BATCH)
        return [self.fields[at : at + BATCH] for at in starts]


@dataclass(frozen=True)
class JavaValue:
    """A constant of an enum."""

    name: str
    java_name: str
    number: int


@dataclass(frozen=True)
class JavaEnum:
    """An enum as the templates need it."""

    name: str
    java_name: str
    values: tuple[JavaValue, ...]


def stacks(contract: Contract) -> tuple[tuple[str, str], ...]:
    """Bindings and codecs that a service can serve."""
    del contract
    rest = tuple(("rest", codec) for codec in ("json", "protobuf", "xml", "cbor", "msgpack"))
    return (*rest, ("soap", "soap-literal"), ("grpc", "protobuf"))


def write_project(contract: Contract, proto: str, descriptors: bytes, folder: Path) -> Project:
    """Writes the sources. ``proto`` is the contract's .proto, ``descriptors`` its serialised
    FileDescriptorSet with imports. Raises :class:`UsageError` with the path of a field that Java
    cannot have, :class:`BuildError`."""
    check(contract)
    tools = java_tools.find()
    names = [*contract.message_by_name, *contract.enum_by_name]
    types = take_types(names, contract.service)
    _Writer(contract, types, folder).write()
    (folder / "service").chmod(0o755)
    (folder / "contract.proto").write_text(proto, encoding="utf-8")
    files = _rename(contract, descriptors, types)
    (folder / "contract.pb").write_bytes(files.SerializeToString(deterministic=True))
    _write_build(folder, files.file[-1].name, tools)
    libraries = {library: tools.version(library) for jars in LIBRARIES.values() for library in jars}
    return Project(
        language="java",
        folder=folder,
        build=("sh", "build.sh"),
        start=(str((folder / "service").resolve()),),
        build_seconds=BUILD_SECONDS,
        libraries={"jdk": _jdk_version(), **libraries},
    )


def check(contract: Contract) -> None:
    """Raises :class:`UsageError` with the path of a field that the codecs cannot have."""
    for message in contract.messages:
        seen: dict[str, str] = {}
        for field in message.fields:
            for name in {f"json {field.json_name}", f"xml {xml_name(field.json_name)}"}:
                if name in seen:
                    where = f"{message.name}.{field.name}"
                    raise UsageError(
                        f"{where} has the same name as {message.name}.{seen[name]} in"
                        f" {name.split(' ')[0].upper()}: {name.split(' ', 1)[1]!r}",
                        "rename one of them",
                    )
                seen[name] = field.name


class _Writer:
    """Writes all files that depend on the contract's types."""

    def __init__(self, contract: Contract, types: dict[str, str], folder: Path) -> None:
        self._contract = contract
        self._folder = folder
        self._types = types
        loader = PackageLoader("wirelab", "/".join(TEMPLATES))
        self._templates = Environment(
            loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
            keep_trailing_newline=True, autoescape=False,
        )  # fmt: skip
        self._templates.filters["java"] = literal

    def write(self) -> None:
        messages = {one.name: self._message(one) for one in self._contract.messages}
        common = {
            "contract": self._contract,
            "service": self._contract.service,
            "request": messages[self._contract.request],
            "reply": messages[self._contract.reply],
        }
        for name in _sources(resources.files("wirelab").joinpath(*TEMPLATES), ""):
            if name.endswith(("/Message.java.j2", "/Enum.java.j2", "/Rules.java.j2")):
                continue
            if not name.endswith(".j2") or name.startswith("src/"):
                self._render(name, name.removesuffix(".j2"), **common)
        for message in messages.values():
            target = f"src/contract/message/{message.java_name}.java"
            self._render("src/contract/message/Message.java.j2", target, message=message)
            target = f"src/contract/rules/{message.rules_name}.java"
            self._render("src/contract/rules/Rules.java.j2", target, message=message)
        for enum in self._enums():
            target = f"src/contract/message/{enum.java_name}.java"
            self._render("src/contract/message/Enum.java.j2", target, enum=enum)

    def _render(self, template: str, target: str, **values: Any) -> None:
        path = self._folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        if template.endswith(".j2"):
            text = self._templates.get_template(template).render(**values)
            path.write_text(_without_unused_imports(text), encoding="utf-8")
        else:
            source = resources.files("wirelab").joinpath(*TEMPLATES, *template.split("/"))
            path.write_bytes(source.read_bytes())

    def _message(self, message: Message) -> JavaMessage:
        accessors = safe_field_names({field.name: field.number for field in message.fields})
        writer = FieldWriter(self._contract, message.name, self._types, accessors)
        fields = {field.name: writer.write(field) for field in message.fields}
        oneofs: dict[str, list[JavaField]] = {}
        for field in message.fields:
            if field.oneof:
                oneofs.setdefault(field.oneof, []).append(fields[field.name])
        java_name = self._types[message.name]
        return JavaMessage(
            message.name,
            java_name,
            f"{java_name}Rules",
            message.name in (self._contract.request, self._contract.reply),
            tuple(fields.values()),
            tuple((name, tuple(members)) for name, members in oneofs.items()),
        )

    def _enums(self) -> list[JavaEnum]:
        made = []
        for enum in self._contract.enums:
            constants = safe_values(name for name, _ in enum.values)
            values = tuple(JavaValue(name, constants[name], number) for name, number in enum.values)
            made.append(JavaEnum(enum.name, self._types[enum.name], values))
        return made


def _sources(folder: Traversable, prefix: str) -> list[str]:
    """Paths of all files in a folder of the package."""
    found: list[str] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        found += _sources(entry, f"{name}/") if entry.is_dir() else [name]
    return sorted(found)


def _without_unused_imports(source: str) -> str:
    """One template serves messages with every kind of field; a message has only some."""
    lines = source.splitlines(keepends=True)
    rest = "".join(line for line in lines if not line.startswith("import "))
    words = set(re.findall(r"\w+", rest))

    def is_used(line: str) -> bool:
        found = re.fullmatch(r"import [\w.]+\.(\w+);\n", line)
        return found is None or found[1] in words

    return "".join(line for line in lines if is_used(line))


def _rename(contract: Contract, descriptors: bytes, types: dict[str, str]) -> Any:
    """The descriptors with names that are safe in Java. Only the names of the package, the service
    and the method are sent; fields are sent by their numbers."""
    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    file = files.file[-1]
    known = {message.name for message in file.message_type}
    if missing := contract.message_by_name.keys() - known:
        raise UsageError(f"the descriptors have no message {min(missing)}")
    file.name = "contract.proto"
    file.options.java_package = "contract.protobuf"
    file.options.java_multiple_files = True
    file.options.java_outer_classname = _free("ContractFile", types.values())
    prefix = f".{contract.package}."
    full_names = {f"{prefix}{name}": f"{prefix}{java}" for name, java in types.items()}
    for message in file.message_type:
        _rename_fields(message, prefix, full_names)
        message.name = types[message.name]
    for enum in file.enum_type:
        constants = safe_values(value.name for value in enum.value)
        for value in enum.value:
            # Values of all enums share one scope.
            value.name = f"{types[enum.name].upper()}__{constants[value.name]}"
        enum.name = types[enum.name]
    for method in file.service[0].method:
        method.input_type = full_names[method.input_type]
        method.output_type = full_names[method.output_type]
    return files


def _rename_fields(message: Any, prefix: str, full_names: dict[str, str]) -> None:
    names = safe_field_names({field.name: field.number for field in message.field})
    entries = {entry.name: entry for entry in message.nested_type}
    owner = f"{prefix}{message.name}"
    for entry in entries.values():
        for field in entry.field:
            _retype(field, full_names)
    for field in message.field:
        new = names[field.name]
        if field.type_name.startswith(f"{owner}."):
            entry = entries[field.type_name.removeprefix(f"{owner}.")]
            # protoc compares it with the field's name.
            entry.name = "".join(part[:1].upper() + part[1:] for part in new.split("_")) + "Entry"
            field.type_name = f"{full_names[owner]}.{entry.name}"
        else:
            _retype(field, full_names)
        field.name = new
        field.ClearField("json_name")
    for at, oneof in enumerate(message.oneof_decl):
        oneof.name = f"oneof_number_{at}"


def _retype(field: Any, full_names: dict[str, str]) -> None:
    # A scalar must not have a type's name, also not an empty one.
    if field.type_name in full_names:
        field.type_name = full_names[field.type_name]


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _write_build(folder: Path, proto_file: str, tools: java_tools.Toolchain) -> None:
    script = resources.files("wirelab").joinpath(*TEMPLATES, "build.sh.j2")
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["sh"] = lambda value: shlex.quote(str(value))
    text = environment.from_string(script.read_text(encoding="utf-8")).render(
        protoc=tools.protoc, plugin=tools.grpc_plugin, proto_file=proto_file
    )
    (folder / "build.sh").write_text(text, encoding="utf-8")
    for binding, jars in tools.class_paths.items():
        (folder / f"{binding}.classpath").write_text(_joined(jars), encoding="utf-8")
    jars = tuple(dict.fromkeys(jar for one in tools.class_paths.values() for jar in one))
    (folder / "all.classpath").write_text(_joined(jars), encoding="utf-8")


def _joined(jars: tuple[Path, ...]) -> str:
    return os.pathsep.join(str(jar) for jar in jars) + "\n"


def _jdk_version() -> str:
    """Of the javac in PATH, from the file that every JDK has."""
    javac = shutil.which("javac")
    release = Path(javac).resolve().parents[1] / "release" if javac else None
    text = release.read_text(encoding="utf-8") if release and release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="(.+)"$', text, re.M)
    return found[1] if found else "unknown"
