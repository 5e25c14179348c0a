"""One fleet for all pages of the documentation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.desk import Desk
from tests.docs.shell import Shell
from tests.support.programs import fleet_here
from tests.support.servers import Servers


# Runs first, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the pages on one worker of pytest-xdist: they share a fleet and its objects."""
    for item in items:
        if item.path == Path(__file__).parent / "test_pages.py":
            item.add_marker(pytest.mark.xdist_group("docs"))


@pytest.fixture(scope="package")
def desk(servers: Servers) -> Iterator[Desk]:
    """Yield the desk where pages are typed; stop its fleet after the last page."""
    # Inside the servers' folder, so that the fleet ends with them even if this process is killed.
    folder = servers.folder / "docs"
    folder.mkdir(exist_ok=True)
    fleet_here()  # otherwise `fleetgate local up` would fetch the programs
    found = Desk(folder)
    try:
        yield found
    finally:
        found.leave()


@pytest.fixture
def shell(desk: Desk) -> Iterator[Shell]:
    """Yield a shell with a fleet to which nothing has been rolled out."""
    found = desk.sit_down()
    try:
        yield found
    finally:
        found.close()
        desk.clean_up()
