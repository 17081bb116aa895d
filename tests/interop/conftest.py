"""One host for the whole session: each service is built once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interop.hosting import Host
from wirelab.process.scratch import Scratch

BUILD_S_MAX = 900
"""Maven fetches and builds for minutes on a machine where nothing was built before."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whichever test needs a service or a server first waits for its build."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.timeout(BUILD_S_MAX))


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """Starts our services."""
    with Scratch() as scratch:
        yield Host(scratch, tmp_path_factory.mktemp("services"))
