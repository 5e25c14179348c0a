"""One fleet for all pages of the documentation."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.desk import Desk
from tests.docs.shell import Shell
from tests.support.programs import fleet_here
from tests.support.servers import Servers


# First, because pytest-xdist reads the groups in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the pages on one worker of pytest-xdist: they share a fleet and its objects."""
    for item in items:
        if item.path == Path(__file__).parent / "test_pages.py":
            item.add_marker(pytest.mark.xdist_group("docs"))


@pytest.fixture(scope="package")
def desk(servers: Servers) -> Iterator[Desk]:
    """Where pages are typed; its fleet ends after the last one."""
    # Below the session's servers, so that it ends with them whatever becomes of this process.
    folder = servers.folder / "docs"
    folder.mkdir(exist_ok=True)
    fleet_here()  # or `fleetgate local up` would get them
    found = Desk(folder)
    try:
        yield found
    finally:
        found.leave()


@pytest.fixture
def shell(desk: Desk) -> Iterator[Shell]:
    """A shell in front of a fleet to which nothing is rolled out."""
    found = desk.sit_down()
    try:
        yield found
    finally:
        found.close()
        desk.clean_up()
