"""A service in Java for a contract, as it is written by hand.

Plain classes carry JSON, CBOR and MessagePack (Jackson), Avro, XML (JAXB) and SOAP (Apache CXF);
the classes that protoc makes carry Protocol Buffers and gRPC (grpc-java). REST is a Spring Boot
application on Tomcat. All libraries are those of the lab's own service in Java.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2

from wirelab.contracts.codecs import avro_schema
from wirelab.contracts.schema import Contract, Message
from wirelab.generate import java_tools
from wirelab.generate.java_fields import FieldWriter, JavaField
from wirelab.generate.java_names import literal, safe_field_names, safe_values, take_types
from wirelab.generate.project import Project
from wirelab.generate.protobuf_plugin import rename_file
from wirelab.generate.templates import Templates

BUILD_SECONDS = 15.0
TEMPLATES = Templates("java", {"java": literal, "sh": shlex.quote})
MESSAGE = "src/contract/message/Message.java.j2"
ENUM = "src/contract/message/Enum.java.j2"
RULES = "src/contract/rules/Rules.java.j2"
BUILD = "build.sh.j2"
PROTO = "contract.proto"
OUTER_CLASS = "ContractFile"
BATCH = 50
"""Fields that one method reads: the virtual machine does not compile methods above 8,000 bytes."""
LIBRARIES = {
    "rest": ("tomcat-embed-core", "spring-boot", "spring-webmvc", "jackson-databind",
             "jackson-dataformat-cbor", "jackson-dataformat-msgpack", "msgpack-core", "avro",
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


def write_project(contract: Contract, proto: str, descriptors: bytes, folder: Path) -> Project:
    """Writes the sources. ``proto`` is the contract's .proto, ``descriptors`` its serialised
    FileDescriptorSet with imports. Raises :class:`BuildError`."""
    tools = java_tools.find()
    names = [*contract.message_by_name, *contract.enum_by_name]
    types = take_types(names, (OUTER_CLASS, f"{contract.service}Grpc"))
    messages = [describe_message(contract, one, types) for one in contract.messages]
    _write_sources(contract, messages, describe_enums(contract, types), types, folder)
    (folder / "contract.proto").write_text(proto, encoding="utf-8")
    schema = avro_schema.write_schema(contract)
    (folder / avro_schema.FILE).write_text(schema, encoding="utf-8")
    (folder / "contract.pb").write_bytes(rename_descriptors(contract, descriptors, types))
    _write_build(folder, tools)
    libraries = {library: tools.version(library) for jars in LIBRARIES.values() for library in jars}
    return Project(
        language="java",
        folder=folder,
        build=("sh", "build.sh"),
        start=(str((folder / "service").resolve()),),
        build_seconds=BUILD_SECONDS,
        libraries={"jdk": _jdk_version(), **libraries},
    )


def describe_message(contract: Contract, message: Message, types: dict[str, str]) -> JavaMessage:
    """A message with the statements of its rules; ``types`` has the classes."""
    accessors = safe_field_names({field.name: field.number for field in message.fields})
    writer = FieldWriter(contract, message.name, types, accessors)
    fields = {field.name: writer.write(field) for field in message.fields}
    oneofs: dict[str, list[JavaField]] = {}
    for field in message.fields:
        if field.oneof:
            oneofs.setdefault(field.oneof, []).append(fields[field.name])
    return JavaMessage(
        message.name,
        types[message.name],
        f"{types[message.name]}Rules",
        message.name in (contract.request, contract.reply),
        tuple(fields.values()),
        tuple((name, tuple(members)) for name, members in oneofs.items()),
    )


def describe_enums(contract: Contract, types: dict[str, str]) -> list[JavaEnum]:
    """All enums; ``types`` has their classes."""
    made = []
    for enum in contract.enums:
        constants = safe_values(name for name, _ in enum.values)
        values = tuple(JavaValue(name, constants[name], number) for name, number in enum.values)
        made.append(JavaEnum(enum.name, types[enum.name], values))
    return made


def _write_sources(
    contract: Contract,
    messages: list[JavaMessage],
    enums: list[JavaEnum],
    types: dict[str, str],
    folder: Path,
) -> None:
    named = {message.name: message for message in messages}
    common = {
        "contract": contract,
        "service": contract.service,
        "request": named[contract.request],
        "reply": named[contract.reply],
        "avro_types": [
            (avro_schema.full_name(contract, name), java_name) for name, java_name in types.items()
        ],
    }
    apart = frozenset({MESSAGE, ENUM, RULES, BUILD})
    TEMPLATES.write_tree(folder, common, apart)
    plain, rules = folder / "src/contract/message", folder / "src/contract/rules"
    for message in messages:
        _write_class(MESSAGE, plain / f"{message.java_name}.java", {"message": message})
        _write_class(RULES, rules / f"{message.rules_name}.java", {"message": message})
    for enum in enums:
        _write_class(ENUM, plain / f"{enum.java_name}.java", {"enum": enum})


def _write_class(template: str, target: Path, context: dict[str, object]) -> None:
    TEMPLATES.write(template, target, context)
    source = target.read_text(encoding="utf-8")
    target.write_text(_remove_unused_imports(source), encoding="utf-8")


def _remove_unused_imports(source: str) -> str:
    """One template serves messages with every kind of field; a message has only some."""
    lines = source.splitlines(keepends=True)
    rest = "".join(line for line in lines if not line.startswith("import "))
    words = set(re.findall(r"\w+", rest))

    def is_used(line: str) -> bool:
        found = re.fullmatch(r"import [\w.]+\.(\w+);\n", line)
        return found is None or found[1] in words

    return "".join(line for line in lines if is_used(line))


def rename_descriptors(contract: Contract, descriptors: bytes, types: dict[str, str]) -> bytes:
    """The descriptors with names that are safe in Java. Only the names of the package, the service
    and the method are sent; fields are sent by their numbers."""
    accessors = {
        message.name: safe_field_names({field.name: field.number for field in message.fields})
        for message in contract.messages
    }

    def rename(name: str, part: str = "") -> str:
        return accessors[name].get(part, f"{part}__oneof") if part else types[name]

    files = descriptor_pb2.FileDescriptorSet.FromString(descriptors)
    file = rename_file(files.file, contract, rename)
    file.name = PROTO
    file.options.java_package = "contract.protobuf"
    file.options.java_multiple_files = True
    file.options.java_outer_classname = OUTER_CLASS
    for enum in file.enum_type:
        constants = safe_values(value.name for value in enum.value)
        for value in enum.value:
            # Values of all enums share one scope.
            value.name = f"{enum.name.upper()}__{constants[value.name]}"
    return bytes(files.SerializeToString(deterministic=True))


def _write_build(folder: Path, tools: java_tools.Toolchain) -> None:
    program = {"protoc": str(tools.protoc), "plugin": str(tools.grpc_plugin), "proto_file": PROTO}
    TEMPLATES.write(BUILD, folder / "build.sh", program)
    (folder / "service").chmod(0o755)
    for binding, jars in tools.class_paths.items():
        (folder / f"{binding}.classpath").write_text(_join_paths(jars), encoding="utf-8")
    every = tuple(dict.fromkeys(jar for jars in tools.class_paths.values() for jar in jars))
    (folder / "all.classpath").write_text(_join_paths(every), encoding="utf-8")


def _join_paths(jars: tuple[Path, ...]) -> str:
    return os.pathsep.join(str(jar) for jar in jars) + "\n"


def _jdk_version() -> str:
    """Of the javac in PATH, from the file that every JDK has."""
    javac = shutil.which("javac")
    release = Path(javac).resolve().parents[1] / "release" if javac else None
    text = release.read_text(encoding="utf-8") if release and release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="(.+)"$', text, re.M)
    return found[1] if found else "unknown"
