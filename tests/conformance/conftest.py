"""Fixtures of the conformance tests, their options, and the table at the end.

pytest tests/conformance                                        engine and hub of the session
pytest tests/conformance --kubeconfig hub.kubeconfig --stuck-after 4     any engine, any hub

In the second case, the engine must report a cluster as stuck after that many seconds, and no other
placement may run: `fleetgate worker --run engine,bridge --placement external --stuck-after 4s`.
"""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.kinds import NAMESPACE, Scope
from hub import Hub
from tests.conformance import table
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.eventually import PATIENCE
from tests.support.servers import STUCK_AFTER, Servers

WITHIN = PATIENCE
"""Seconds that an engine may take for a step; more if the machine is overloaded."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--kubeconfig", type=Path, help="test the engine that runs on this hub")
    group.addoption(
        "--stuck-after", type=float, help="seconds until that engine reports a cluster as stuck"
    )
    group.addoption("--within", type=float, help="seconds that it may take for a step")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for each in terminalreporter.stats.values() for report in each]
    for line in table.lines(reports):
        terminalreporter.write_line(line)


@pytest.fixture(scope="package")
async def hub(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[Hub]:
    """The hub given by `--kubeconfig`, or the session's own hub with a worker."""
    given: Path | None = request.config.getoption("--kubeconfig", default=None)
    async with await Hub.connect(given or await servers.driven_cluster()) as client:
        yield client


@pytest.fixture(scope="package")
async def namespace(hub: Hub) -> AsyncIterator[str]:
    """A namespace for all tests in one process."""
    name = f"conformance-{secrets.token_hex(4)}"
    await hub.create(NAMESPACE, {"metadata": {"name": name}})
    yield name
    await hub.delete(NAMESPACE, name)


@pytest.fixture
async def world(
    request: pytest.FixtureRequest,
    hub: Hub,
    scope: Scope,
    namespace: str,
    unique: str,
) -> AsyncIterator[World]:
    """A world for one test, which is removed afterwards."""

    def note(says: Says) -> None:
        request.node.user_properties.append((table.SEEN, says.name))

    option = request.config.getoption
    made = World(
        hub=hub,
        scope=scope,
        name=unique,
        namespace=namespace if scope.run.namespaced else "",
        within=option("--within", default=None) or WITHIN,
        stuck_after=option("--stuck-after", default=None) or STUCK_AFTER.total_seconds(),
        note=note,
    )
    yield made
    await made.clear()
