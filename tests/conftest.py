"""The class of each test, which tests share a worker, and what is collected."""

from __future__ import annotations

import os
import shutil
import tempfile

import hypothesis
import pytest

from tests import builds, classes, disturbance

# With a server of gRPC in this process, a fork waits for gRPC's threads, and sometimes for ever
# (gRPC, doc/fork_support.md). The children of tests execute another program at once.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "0"
# Tests run next to each other; those of locks and of repeated trials say otherwise.
os.environ["WIRELAB_SHARE"] = "1"

# A busy machine is not a failure: tests that judge a time use `tests/disturbance.py`.
hypothesis.settings.register_profile("without-deadline", deadline=None)
hypothesis.settings.load_profile("without-deadline")

COLLECTED = pytest.StashKey[list[str]]()
"""Every test that was collected, also those that ``-m`` and ``-k`` leave out."""


def name_test(item: pytest.Item) -> str:
    """As the list of classes names it: ``python/test_drive::test_a[b]``."""
    module = item.path.relative_to(classes.FOLDER).with_suffix("").as_posix()
    return f"{module}::{item.nodeid.partition('::')[2]}"


def pytest_configure(config: pytest.Config) -> None:
    """Repeats disturbed tests; not in workers of xdist, where others run next to them."""
    # Each worker has locks of its own, so that no trial is marked because of another worker.
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="wirelab-tests-")
    config.add_cleanup(lambda: shutil.rmtree(os.environ["XDG_STATE_HOME"], ignore_errors=True))
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(disturbance.make_repetition(), "disturbance")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before the workers of xdist start."""
    if session.config.getoption("numprocesses", None):
        builds.build_services()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks tests by their class, before ``-m`` selects by it."""
    known = classes.load()
    config.stash[COLLECTED] = [name_test(item) for item in items]
    for item in items:
        for marker in known.class_of(name_test(item)).markers:
            item.add_marker(marker)
        if _has_shared_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def _has_shared_fixture(item: pytest.Item) -> bool:
    """Whether a fixture of its module serves it: in one worker it is made once."""
    if not isinstance(item, pytest.Function):
        return False
    used = item._fixtureinfo.name2fixturedefs.values()
    return any(fixtures[-1].scope == "module" for fixtures in used)
