"""One host for the whole session: each service is built once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.strangers.hosting import Host
from wirelab.scratch import Scratch


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts our services."""
    with Scratch() as scratch:
        yield Host(scratch, tmp_path_factory.mktemp("services"))
