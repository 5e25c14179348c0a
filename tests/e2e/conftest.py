"""One embedded fleet for all end-to-end tests of a session."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.e2e.fleet import Fleet


# First, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep these tests on one worker of pytest-xdist: they share a fleet and its objects."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("fleet"))


@pytest.fixture(scope="package")
def running_fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """The fleet, from the first test that needs it to the last."""
    folder = tmp_path_factory.mktemp("fleet")
    try:
        yield Fleet.start(folder)
    finally:
        Fleet.end(folder)  # also what a start that failed has left running


@pytest.fixture
def fleet(running_fleet: Fleet) -> Iterator[Fleet]:
    """The fleet, with nothing rolled out before the test and nothing left after it."""
    yield running_fleet
    _delete(running_fleet, "csur --all", "csus --all")
    # Side by side: a namespace takes its five seconds to go, on the hub as on the members.
    _delete(running_fleet, "crp --all", "namespace test-namespace --ignore-not-found")


def _delete(fleet: Fleet, *what: str) -> None:
    commands = [f"delete {each} --timeout=60s" for each in what]
    with ThreadPoolExecutor() as typing:
        list(typing.map(fleet.kubectl, commands))
