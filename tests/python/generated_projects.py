"""Generated projects for tests: of golden vectors, of hostile names, and mutants."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType

from tests.contracts.vectors import make_vectors
from tests.python.generated_services import Vectors, load_vectors
from wirelab.contracts.codecs import Codec
from wirelab.contracts.schema import Contract, Enum, Field, Kind, Label, Message
from wirelab.generate.build import build_service
from wirelab.generate.project import Project
from wirelab.process.interruption import Interruption


@lru_cache
def build_vectors(generator: ModuleType, name: str) -> Project:
    """The service of golden vectors, from the cache where it was built before."""
    return build(generator, load_vectors(name))


def build(generator: ModuleType, vectors: Vectors) -> Project:
    """The service of a contract, from the cache where it was built before."""
    contract = vectors.contract

    def write(folder: Path) -> Project:
        project = generator.write_project(contract, vectors.proto, vectors.descriptors, folder)
        assert isinstance(project, Project)
        return project

    language = generator.__name__.rpartition(".")[2]
    return build_service(language, contract, write, Interruption())


@lru_cache
def build_hostile(generator: ModuleType) -> Project:
    """The service of :func:`describe_hostile`."""
    return build(generator, describe_hostile())


@dataclass(frozen=True)
class Mutant:
    """A service that is wrong in one place."""

    file: str
    right: str
    wrong: str
    codec: Codec = Codec.JSON

    def build(self, generator: ModuleType, vectors: Vectors, folder: Path) -> Project:
        """The service with its mistake."""
        project = generator.write_project(
            vectors.contract, vectors.proto, vectors.descriptors, folder
        )
        assert isinstance(project, Project)
        source = folder / self.file
        text = source.read_text(encoding="utf-8")
        assert self.right in text
        source.write_text(text.replace(self.right, self.wrong), encoding="utf-8")
        subprocess.run(project.build, cwd=folder, check=True, capture_output=True, timeout=900)
        return project


KEYWORDS = (
    "type", "self", "func", "package", "range", "map", "string", "struct", "match", "fn", "crate",
    "super", "class", "public", "final", "int", "default", "return", "value", "digest", "get_value",
    "reset", "descriptor", "proto_message", "xmlname", "members", "error", "len", "nil", "none",
)  # fmt: skip
"""Names of fields."""
TYPES = (
    "String", "Option", "Vec", "Self", "Box", "Error", "Message", "Request", "Reply", "Timestamp",
    "Default", "Object", "Map", "List", "HostileServer", "HostileClient", "Value", "Number",
)  # fmt: skip
"""Names of messages."""
COLLIDING = ("order_id", "orderId", "OrderID", "order__id", "a_1", "a1", "A1")


@lru_cache
def describe_hostile() -> Vectors:
    """A contract whose names are keywords, names of libraries, and each other's after a change of
    case; its enums have values of the same name in other cases."""
    fields = [
        Field(name, f"{name} ✓", at, Kind.STRING, Label.OPTIONAL)
        for at, name in enumerate((*KEYWORDS, *COLLIDING), start=1)
    ]
    number_of = len(fields) + 1
    fields += [
        Field(f"part_{at}", f"«{name}»", number_of + at, Kind.MESSAGE, type_name=name)
        for at, name in enumerate(TYPES)
    ]
    number_of += len(TYPES)
    fields += [
        Field("kind", "kind", number_of, Kind.ENUM, type_name="Hostile_Kind"),
        Field("card", "card", number_of + 1, Kind.MESSAGE, type_name="Whole_Card", oneof="pay"),
        Field("cash", "cash", number_of + 2, Kind.INT64, oneof="pay"),
        Field("at", "at", number_of + 3, Kind.TIMESTAMP, Label.REPEATED),
        Field("times", "times", number_of + 4, Kind.DURATION, Label.MAP, map_key=Kind.BOOL),
        Field("more", "more", number_of + 5, Kind.MESSAGE, Label.REPEATED, "Whole"),
        Field("next", "next", number_of + 6, Kind.MESSAGE, type_name="Whole"),
    ]
    part = (Field("value", "value", 1, Kind.INT32, Label.OPTIONAL),)
    contract = Contract(
        package="hostile.type.v1",
        service="Hostile",
        method="self",
        request="Whole",
        reply="Whole",
        messages=(
            Message("Whole", tuple(fields)),
            *(Message(name, part) for name in TYPES),
            Message("Whole_Card", part),
            Message("WholeCard", part),
        ),
        enums=(Enum("Hostile_Kind", (("name", 0), ("value", 1), ("NAME", 2))),),
    )
    texts = {field.name: f"«{field.name}»" for field in fields if field.kind is Kind.STRING}
    value = {**texts, "kind": 2, "card": {"value": 7}, "more": [{}]}
    return Vectors(contract, make_vectors(contract, {"hostile": value}, value))
