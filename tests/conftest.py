"""Fixtures that start real servers when a test uses them; see `tests.support.servers`."""

import gc
import os
import secrets
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from zlib import crc32

import hypothesis
import pytest

from api.kinds import SCOPES, Scope
from hub import Hub
from tests.support.limits import PATIENT
from tests.support.servers import HUB, PrivateApiServer, Servers

pytest_plugins = ["tests.support.together", "tests.support.hanging"]

_FOLDER = pytest.StashKey[Path]()
FLEETS = ("e2e", "docs")
"""Test folders whose tests run commands on whole fleets."""
ORDER = (*FLEETS, "conformance", "robustness", "placement", "starter", "agent", "deploy", "rights")
"""Test folders that start before the others. Tests in the first two and in `robustness` mostly
wait, each on its own, so a folder that keeps a core busy runs beside them. Folders that need no
server come last, so that an idle process does not start one just to help another."""
_NEED_PROGRAMS = frozenset({"servers", "helm", "running_fleet", "desk"})
"""Fixtures that need a program which is not part of fleetgate."""

# Speed is measured in benchmarks; here a busy machine may take its time. The examples are the same
# each time, so that a failure comes from a change in the code. For more of them, use
# --hypothesis-profile=campaign.
hypothesis.settings.register_profile(
    "fleetgate", deadline=None, derandomize=True, max_examples=25, database=None
)
hypothesis.settings.register_profile(
    "campaign",
    deadline=None,
    max_examples=2000,
    print_blob=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
hypothesis.settings.load_profile("fleetgate")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--scopes", choices=("one", "both"), default="one", help="scopes in which each test runs"
    )
    parser.addoption("--long", action="store_true", help="also run the tests marked `long`")
    parser.addoption(
        "--needing",
        choices=("nothing", "programs"),
        help="run only the tests that need no programs besides fleetgate, or only those that do",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "both_scopes: the code under test branches by scope")
    config.addinivalue_line("markers", "long(why): a test of `make rings`, not of `make test`")
    if not hasattr(config, "workerinput"):
        Servers.end_abandoned()
        config.stash[_FOLDER] = Servers.make_folder()
        # The servers are written in Go: there is enough memory, but no time to collect garbage.
        # With more than one thread, idle threads wake up for each request, at three times its CPU.
        os.environ.setdefault("GOGC", "400")
        os.environ.setdefault("GOMAXPROCS", "1")
        _keep_bytecode(config.stash[_FOLDER] / "bytecode")
        # Like Ctrl-C, so that a time limit on the whole run leaves no server behind either.
        signal.signal(signal.SIGTERM, signal.default_int_handler)


def _keep_bytecode(folder: Path) -> None:
    """Let programs that tests start share compiled bytecode.

    Some environments, especially containers, forbid Python to write bytecode next to the sources.
    Then each `fleetgate` command in a test would compile every module again, which is half of its
    time.
    """
    if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
        os.environ.setdefault("PYTHONPYCACHEPREFIX", str(folder))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run the tests on fleets first: they take minutes, in which no other test's engine can work.

    Engines of tests run in the event loop of the session, which is blocked meanwhile; the workflows
    of an engine started before would have timed out afterwards.
    """
    _deselect(config, items)
    here = Path(__file__).parent

    def rank(item: pytest.Item) -> int:
        room = item.path.relative_to(here).parts[0]
        return ORDER.index(room) if room in ORDER else len(ORDER)

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Exempt the thousands of tests, which live until the end, from garbage collection."""
    gc.collect()
    gc.freeze()


def _deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests that `--needing` and `--long` exclude."""
    asked: dict[bool, list[pytest.Item]] = {True: [], False: []}
    for item in items:
        asked[_is_asked_for(config, item)].append(item)
    items[:] = asked[True]
    config.hook.pytest_deselected(items=asked[False])


def _is_asked_for(config: pytest.Config, item: pytest.Item) -> bool:
    needing = config.getoption("needing")
    if any(item.iter_markers("long")) and not config.getoption("long"):
        return False
    return needing is None or _needs_programs(item) is (needing == "programs")


def _needs_programs(item: pytest.Item) -> bool:
    return isinstance(item, pytest.Function) and not _NEED_PROGRAMS.isdisjoint(item.fixturenames)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _FOLDER in config.stash:
        Servers(config.stash[_FOLDER]).end()


@pytest.fixture(scope="session")
def servers() -> Servers:
    """The real servers of this test session."""
    return Servers.of_session()


@pytest.fixture(scope="session")
async def hub_kubeconfig(servers: Servers) -> Path:
    """Kubeconfig of an API server with controller manager and CRDs, shared by all tests."""
    return await servers.cluster(HUB)


@pytest.fixture(scope="session")
async def hub(hub_kubeconfig: Path) -> AsyncIterator[Hub]:
    """A client of the shared API server."""
    async with await Hub.connect(hub_kubeconfig, limits=PATIENT) as client:
        yield client


@pytest.fixture(scope="session")
def member_kubeconfig(servers: Servers) -> Callable[[str], Awaitable[Path]]:
    """Start a shared member cluster by name: `await member_kubeconfig("member1")`."""
    return servers.cluster


@pytest.fixture
async def private_api_server(servers: Servers) -> AsyncIterator[PrivateApiServer]:
    """A started API server for this test alone, without controllers and CRDs."""
    async with servers.lent_api_server() as server:
        yield server


@pytest.fixture(scope="session")
async def temporal_address(servers: Servers) -> str:
    """Address of a Temporal dev server, shared by all tests."""
    return await servers.temporal_address()


@pytest.fixture
def unique() -> str:
    """A short name that no other test uses."""
    return f"t{secrets.token_hex(4)}"


@pytest.fixture
def scope(request: pytest.FixtureRequest) -> Scope:
    """The scope in which the test runs; see `pytest_generate_tests`."""
    found: Scope = SCOPES[request.param]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test in both scopes if the code under test branches by scope, otherwise in one.

    Nearly all code treats a scope as data: four kinds and a namespace. A module whose subject
    differs by scope is marked `both_scopes`. Other tests are spread over the scopes by name, so
    that a section of the contract is tested in both but each promise in one. `--scopes both` runs
    every test in both.
    """
    fixtures = metafunc._arg2fixturedefs.get("scope")
    if not fixtures or fixtures[-1].params or _names(metafunc, "scope"):
        return
    chosen = sorted(SCOPES)
    marked = metafunc.definition.get_closest_marker("both_scopes")
    if not marked and metafunc.config.getoption("--scopes") == "one":
        name = f"{metafunc.module.__name__}.{metafunc.function.__name__}"
        chosen = [chosen[crc32(name.encode()) % len(chosen)]]
    metafunc.parametrize("scope", chosen, indirect=True)


def _names(metafunc: pytest.Metafunc, argument: str) -> bool:
    """Return whether the test itself parametrizes the argument."""
    marks = metafunc.definition.iter_markers("parametrize")
    return any(argument in str(mark.args[0]) for mark in marks)
