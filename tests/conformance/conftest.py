"""Fixtures of the conformance ring, its options, and the table at its end.

pytest tests/conformance                                        engine and hub of the session
pytest tests/conformance --kubeconfig hub.kubeconfig --stuck-after 4     any engine, any hub

In the second case the engine has to call a cluster stuck after as many seconds, and nothing else
may place: `fleetgate worker --run engine,bridge --placement external --stuck-after 4s`.
"""

import secrets
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from api.kinds import NAMESPACE, SCOPES, Scope
from bridge import BridgeSettings
from hub import Hub
from tests.conformance import table
from tests.conformance.vocabulary import Says
from tests.conformance.world import World
from tests.support.engine import running_engine
from tests.support.servers import HUB, Servers
from workflows.plugin import connect

STUCK_AFTER = 3.0
"""Seconds until a cluster counts as stuck: long enough for one that is fine, short to wait for."""
WITHIN = 15.0
"""Seconds that an engine may take for a step; more when there is more to do than cores for it."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("conformance")
    group.addoption("--kubeconfig", type=Path, help="test whatever engine serves this hub")
    group.addoption(
        "--stuck-after", type=float, help="seconds until that engine calls a cluster stuck"
    )
    group.addoption("--within", type=float, help="seconds that it may take for a step")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [report for each in terminalreporter.stats.values() for report in each]
    for line in table.lines(reports):
        terminalreporter.write_line(line)


@pytest.fixture(scope="package")
async def hub(request: pytest.FixtureRequest, servers: Servers) -> AsyncIterator[Hub]:
    """The hub that the tests are pointed at, or the session's own."""
    given: Path | None = request.config.getoption("--kubeconfig", default=None)
    async with await Hub.connect(given or await servers.cluster(HUB)) as client:
        yield client


@pytest.fixture(scope="package")
async def engine(request: pytest.FixtureRequest, servers: Servers, hub: Hub) -> AsyncIterator[None]:
    """Worker and bridge, unless the tests are pointed at an engine that runs already."""
    if request.config.getoption("--kubeconfig", default=None):
        yield
        return
    temporal = await connect({"TEMPORAL_ADDRESS": await servers.temporal_address()})
    settings = BridgeSettings(stuck_after=timedelta(seconds=STUCK_AFTER))
    async with running_engine(hub, temporal, settings=settings):
        yield


@pytest.fixture(scope="package")
async def namespace(hub: Hub) -> AsyncIterator[str]:
    """A namespace for all tests of one process."""
    name = f"conformance-{secrets.token_hex(4)}"
    await hub.create(NAMESPACE, {"metadata": {"name": name}})
    yield name
    await hub.delete(NAMESPACE, name)


@pytest.fixture(params=sorted(SCOPES), ids=lambda name: SCOPES[name].run.kind)
def scope(request: pytest.FixtureRequest) -> Scope:
    """Both scopes, one after the other."""
    found: Scope = SCOPES[request.param]
    return found


@pytest.fixture
async def world(
    request: pytest.FixtureRequest,
    hub: Hub,
    engine: None,
    scope: Scope,
    namespace: str,
    unique: str,
) -> AsyncIterator[World]:
    """A world of the test's own; it is removed afterwards."""

    def note(says: Says) -> None:
        request.node.user_properties.append((table.SEEN, says.name))

    option = request.config.getoption
    made = World(
        hub=hub,
        scope=scope,
        name=unique,
        namespace=namespace if scope.run.namespaced else "",
        within=option("--within", default=None) or WITHIN,
        stuck_after=option("--stuck-after", default=None) or STUCK_AFTER,
        note=note,
    )
    yield made
    await made.clear()
