"""The structure of Java classes, as the page of guimaraes2024 counts it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tools import java_structure

LINES = """\
wirelab.service.petclinic.A -> java.lang.Object java.base
   wirelab.service.petclinic.Clinic             -> java.lang.Object                     java.base
   wirelab.service.petclinic.Clinic             -> wirelab.service.petclinic.message.Json  classes
   wirelab.service.petclinic.Clinic$Part        -> wirelab.service.petclinic.Clinic     classes
   wirelab.service.petclinic.Clinic             -> wirelab.service.petclinic.message.Protobuf  x
   wirelab.service.petclinic.message.Json       -> wirelab.service.petclinic.Clinic$Part  classes
   wirelab.service.petclinic.message.Protobuf   -> wirelab.petclinic.v1.Owner           classes
   wirelab.petclinic.v1.Owner                   -> wirelab.petclinic.v1.Owner$Builder   classes
   wirelab.petclinic.v1.Owner                   -> com.google.protobuf.Message          not found
"""
CLINIC = "wirelab.service.petclinic.Clinic"
JSON, PROTOBUF = (f"wirelab.service.petclinic.message.{name}" for name in ("Json", "Protobuf"))
OWNER = "wirelab.petclinic.v1.Owner"
GRAPH = {CLINIC: {JSON, PROTOBUF}, JSON: {CLINIC}, PROTOBUF: {OWNER}, OWNER: set()}


def test_classes_within_others_count_with_them() -> None:
    assert java_structure.read_graph(LINES.splitlines()) == GRAPH


def test_a_variant_lacks_the_other_codec_and_what_only_that_needs() -> None:
    assert java_structure.select(GRAPH, "Protobuf") == {CLINIC: {JSON}, JSON: {CLINIC}}
    assert set(java_structure.select(GRAPH, "Json")) == {CLINIC, PROTOBUF, OWNER}


def test_sizes_and_cycles() -> None:
    lines = {CLINIC: 10, JSON: 5, PROTOBUF: 4, OWNER: 1000}
    json = java_structure.describe(java_structure.select(GRAPH, "Protobuf"), lines)
    assert (json.classes, json.lines, json.generated_lines) == (2, 15, 0)
    assert (json.cycles, json.package_cycles) == ([2], [2])
    protobuf = java_structure.describe(java_structure.select(GRAPH, "Json"), lines)
    assert (protobuf.classes, protobuf.generated_classes, protobuf.generated_lines) == (2, 1, 1000)
    assert (protobuf.cycles, protobuf.package_cycles) == ([], [])


def test_cycles_are_strongly_connected_components() -> None:
    """A ring of seven, a pair, and a chain that leads from one to the other."""
    ring = [f"r{number}" for number in range(7)]
    edges = [*pairwise([*ring, ring[0]]), ("a", "b"), ("b", "a"), ("r3", "c"), ("c", "a")]
    graph: java_structure.Graph = {name: set() for edge in edges for name in edge}
    for needs, needed in edges:
        graph[needs].add(needed)
    assert java_structure.find_cycles(graph) == [7, 2]
    assert java_structure.find_cycles({"a": {"b"}, "b": set()}) == []


def test_the_page_is_what_the_build_has() -> None:
    built = java_structure.find_classes()
    if built is None:
        pytest.skip("the service in Java is not built")
    rows = "\n".join(java_structure.format_table(java_structure.measure(built)))
    assert rows in java_structure.PAGE.read_text(encoding="utf-8")
