"""Rows on XML: what is asked, and what becomes of the answers."""

from __future__ import annotations

import re

import pytest

from bench.pages import engine_tax
from bench.record import service_xml_row, xml_writers_row
from bench.rows.xml_services import REFUSALS, STACKS, Decoded, Written, request


def make_result(service_us: float) -> Decoded:
    """A service that takes so long where the program takes 10 µs."""
    rounds = 7
    return Decoded("xml", "Submit 200 B", 635, (service_us,) * rounds, (10.0,) * rounds)


def test_a_service_that_is_much_cheaper_than_its_library_breaks_the_bound() -> None:
    """A parser of the lab's own once took 0.12 of quick-xml's time."""
    assert make_result(11.0).ratio.verdict == "holds"
    assert make_result(1.2).ratio.verdict == "BROKEN"
    assert make_result(16.0).ratio.verdict == "BROKEN"


@pytest.mark.parametrize("codec", ["xml", "soap-literal", "soap-encoded"])
@pytest.mark.parametrize("records", REFUSALS)
def test_every_record_of_a_request_is_one_that_is_refused(codec: str, records: int) -> None:
    """Its quantity is 0, and each has its own number."""
    document = request(codec, records)
    assert len(re.findall(r"<quantity[^>]*>0</quantity>", document)) == records
    assert len(set(re.findall(r"<id[^>]*>(\d+)</id>", document))) == records


def test_every_service_that_writes_xml_is_asked() -> None:
    """quick-xml, encoding/xml, Spring's, CXF's and Axis's documents are all different."""
    languages = {stack.partition("@")[2].partition("?")[0] for stack in STACKS}
    assert languages == {"rust", "go", "java"}
    assert sum("soap-encoded" in stack for stack in STACKS) == 2


def test_the_page_has_a_line_for_every_document() -> None:
    """Its parts are made from the rows' own records."""
    written = [
        Written("rest@go?codec=xml", "encoding/xml go1.26", 1, 250, (1.0, 2.0, 3.0)),
        Written("soap@java", "cxf 4.1.5", 100, 9_000, (20.0, 21.0, 22.0)),
    ]
    rows = {
        "service-xml": service_xml_row([make_result(11.0)]).raw,
        "xml-writers": xml_writers_row(written).raw,
    }
    machine = {"revision": "abc", "processor": "x", "cores": [0, 1], "kernel": "6"}
    document = {"taken": "2026-11-24T00:00:00", "machine": machine, "rows": rows}
    page = engine_tax.with_xml_tables(engine_tax.PAGE.read_text(), document)
    assert "| `rest@go?codec=xml` | encoding/xml go1.26 | 1 | 250 | 2.00 µs | 8.00 µs |" in page
    assert "| `soap@java` | cxf 4.1.5 | 100 | 9,000 | 21.00 µs | 2.33 µs |" in page
    assert "| 1.100 [1.100 … 1.100] | 0.8 to 1.5: holds |" in page
