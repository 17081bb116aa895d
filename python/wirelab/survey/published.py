"""The sums of the study that this survey repeats, from ``studies/published.csv``."""

from __future__ import annotations

from dataclasses import dataclass

from wirelab.study import catalogue, published

STUDY = "hamo2023"
STACKS = {"http": "HTTP (net/http)", "grpc": "gRPC"}
"""The study's names of the libraries, by ours."""


@dataclass(frozen=True)
class PublishedSums:
    """Means of the sum of all items, 0 to 36, as printed, without intervals."""

    http: float
    grpc: float
    participants: int
    source: str
    """Table or section of the study."""


def read_published() -> PublishedSums:
    """Raises :class:`LabError` if this installation has no studies."""
    printed = published.read(catalogue.folder() / catalogue.PUBLISHED, STUDY)
    sums = {
        figure.stack: figure
        for figure in published.select(printed, experiment="usability", metric="total_score")
    }
    http, grpc = (sums[stack] for stack in STACKS.values())
    return PublishedSums(http.value, grpc.value, int(http.load["respondents"]), http.source)
