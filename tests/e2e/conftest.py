"""One embedded fleet for all end-to-end tests of a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.fleet import Fleet
from tests.support.servers import Servers


# First, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run these tests on one worker of pytest-xdist, because they share a fleet and its objects."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("fleet"))


@pytest.fixture(scope="package")
def running_fleet(servers: Servers) -> Iterator[Fleet]:
    """The fleet, from the first test that needs it to the last."""
    # Below the session's servers, so that it ends with them even if this process dies.
    folder = servers.folder / "e2e"
    folder.mkdir(exist_ok=True)
    try:
        with Fleet.start(folder) as fleet:
            yield fleet
    finally:
        Fleet.end(folder)  # also stops what a failed start has left running


@pytest.fixture
def fleet(running_fleet: Fleet) -> Iterator[Fleet]:
    """The fleet, with no objects of other tests before the test and none left after it."""
    yield running_fleet
    running_fleet.clients.sweep()
