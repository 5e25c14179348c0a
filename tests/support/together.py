"""Run the async tests of a module concurrently, in the one event loop of the session.

A test on a real server mostly waits: for a watch, a debounce, a timer. Ten of them can wait
concurrently in the time of one. Each test still has its own fixtures, report, duration and time
limit, and reports come in the order of the tests in the module.

How it works: pytest sets a test up, calls it and tears it down in plain functions, which pass each
coroutine to pytest-asyncio's runner. Here those functions run in a greenlet per test, and the
runner's `run` switches to the event loop until the coroutine is done, as SQLAlchemy does to call
async drivers from synchronous code. Function-scoped fixtures are copied for each test; shared ones
are set up by the first test that needs them, while the others wait.

A test that changes the whole process runs alone: one that uses a fixture in `ALONE`, one marked
`alone`, and everything that is not a coroutine.
"""

import asyncio
import contextvars
import copy
import dataclasses
import sys
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Final, Literal

import pytest
from _pytest.fixtures import FixtureDef, SubRequest
from _pytest.runner import SetupState
from _pytest.scope import Scope
from greenlet import getcurrent, greenlet
from pytest_asyncio import is_async_test
from xdist.scheduler import LoadGroupScheduling
from xdist.workermanage import WorkerController

Phase = Literal["setup", "call", "teardown"]

AT_ONCE: Final = 10
"""More than that would only compete for the cores."""

ALONE: Final = frozenset({"capfd", "caplog", "capsys", "monkeypatch", "recwarn", "no_tracebacks"})
"""Fixtures that change the process or observe all of it."""

# Plugins that handle one test at a time: they swap streams, handlers and signals of the process.
_OF_THE_PROCESS: Final = ("capturemanager", "logging-plugin", "runner", "timeout")
_ENDS_THE_SESSION: Final = (pytest.exit.Exception, KeyboardInterrupt)
RUNNER: Final = "_session_scoped_runner"
"""Fixture of pytest-asyncio."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("together").addoption(
        "--at-once",
        type=int,
        default=AT_ONCE,
        help="async tests of a module that run at once; 1: one by one (default: %(default)s)",
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "ByModule":
    """Distribute whole modules to the processes of pytest-xdist."""
    return ByModule(config, log)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "alone(why): an async test that runs without any other")
    if config.getoption("--at-once") > 1:
        config.pluginmanager.register(Together(config))


class ByModule(LoadGroupScheduling):  # type: ignore[misc]
    """Keeps the tests of a module, or of an `xdist_group`, in one process.

    A process stays with its test folder while there is something to do, because each process that
    runs tests of a folder has to start the servers and the engine for them.
    """

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self._rooms: dict[WorkerController, str] = {}

    def _split_scope(self, nodeid: str) -> str:
        group: str = super()._split_scope(nodeid)
        return nodeid.partition("::")[0] if group == nodeid else group

    def _assign_work_unit(self, node: WorkerController) -> None:
        scope = self._next(node)
        self._rooms[node] = _room(scope)
        self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def _next(self, node: WorkerController) -> str:
        """Return the next module of the process's folder, of a free one, or of the fullest one."""
        waiting: dict[str, list[str]] = {}
        for scope in self.workqueue:
            waiting.setdefault(_room(scope), []).append(scope)
        own = self._rooms.get(node)
        if own in waiting:
            return waiting[own][0]
        taken = set(self._rooms.values())
        free = [scopes for room, scopes in waiting.items() if room not in taken]
        return free[0][0] if free else max(waiting.values(), key=len)[0]


def _room(scope: str) -> str:
    """Return the folder of a module below `tests`; a group counts as a folder of its own."""
    return "/".join(scope.split("/")[:2])


class Together:
    """Runs all tests of a module when the first is due, and reports each when it is due."""

    def __init__(self, config: pytest.Config) -> None:
        self._at_once: int = config.getoption("--at-once")
        self._limit = float(config.getini("timeout"))
        self._reports: dict[pytest.Item, list[pytest.TestReport]] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> bool | None:
        """Report a test that has run, or run it with the others of its module."""
        if isinstance(item, pytest.Function) and item not in self._reports and may_join(item):
            companions = _companions(item)
            if len(companions) > 1:
                # Each test has a limit of its own; this one would apply to all of them together.
                item.ihook.pytest_timeout_cancel_timer(item=item)
                self._run(companions)
        reports = self._reports.pop(item, None)
        if reports is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        for report in [*reports[:-1], _leave_collectors(item, nextitem, reports[-1])]:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _run(self, items: "Sequence[pytest.Function]") -> None:
        state: SetupState = items[0].session._setupstate
        module = items[0].getparent(pytest.Module)
        assert module is not None
        shared = _SharedFixtures()
        try:
            state.setup(module)  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001 - the ordinary protocol reports it
            return
        tests = [_Test(item, shared, limit=self._limit) for item in items]
        runner = tests[0].runner()
        run = runner.run
        runner.run = _run_in_greenlet
        try:
            run(self._gather(tests))
        finally:
            del runner.run
        self._reports |= {test.item: test.reports for test in tests}

    async def _gather(self, tests: "Sequence[_Test]") -> None:
        free = asyncio.Semaphore(self._at_once)

        async def one(test: _Test) -> None:
            async with free:
                await test.run()

        await asyncio.gather(*map(one, tests))


def may_join(item: pytest.Function) -> bool:
    """Return whether other tests may run concurrently with this one."""
    return (
        is_async_test(item)
        and not hasattr(item.obj, "hypothesis")
        and ALONE.isdisjoint(item.fixturenames)
        and not any(item.iter_markers("alone"))
        and not any(item.iter_markers("filterwarnings"))
        and not any(item.iter_markers("timeout"))
    )


def _companions(first: pytest.Function) -> list[pytest.Function]:
    """Return the tests of a module that may run together with the first one, and that one."""
    values = _shared_values(first)
    return [
        each
        for each in first.session.items
        if isinstance(each, pytest.Function)
        and each.path == first.path
        and may_join(each)
        and _shared_values(each) == values
    ]


def _shared_values(item: pytest.Item) -> list[tuple[str, int]]:
    """Return the parameters of shared fixtures, of which only one value can be set up at a time."""
    call = getattr(item, "callspec", None)
    if call is None:
        return []
    scopes = call._arg2scope
    return sorted(
        (each, call.indices[each]) for each in scopes if scopes[each] is not Scope.Function
    )


def _leave_collectors(
    item: pytest.Item, nextitem: pytest.Item | None, report: pytest.TestReport
) -> pytest.TestReport:
    """Tear down what no later test needs; return the test's report, or that of a failure in it."""
    session = item.session
    if session.shouldfail or session.shouldstop:
        nextitem = None
    call = pytest.CallInfo.from_call(
        lambda: session._setupstate.teardown_exact(nextitem), when="teardown"
    )
    if call.excinfo is None or report.failed:
        return report
    failed: pytest.TestReport = item.ihook.pytest_runtest_makereport(item=item, call=call)
    return failed


def _run_in_greenlet(
    coroutine: Coroutine[Any, Any, Any], *, context: contextvars.Context | None = None
) -> Any:
    """Replace the runner's `run`: switch to the event loop until the coroutine is done."""
    event_loop = getcurrent().parent
    assert event_loop is not None, "tests that run together are greenlets of the event loop"
    return event_loop.switch((coroutine, context))


class _SharedFixtures:
    """Fixtures with a wider scope than a test, each set up by one test at a time."""

    def __init__(self) -> None:
        self._known: dict[int, _SharedFixture] = {}

    def of(self, definition: FixtureDef[Any]) -> "_SharedFixture":
        return self._known.setdefault(id(definition), _SharedFixture(definition))


class _SharedFixture:
    """A fixture definition that one test at a time may execute."""

    def __init__(self, definition: FixtureDef[Any]) -> None:
        self._definition = definition
        self._lock = asyncio.Lock()
        self._is_set_up = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._definition, name)

    def execute(self, request: SubRequest) -> Any:
        """Return its value; wait while another test sets it up."""
        if self._is_set_up or getcurrent().parent is None:
            return self._definition.execute(request)
        _run_in_greenlet(self._lock.acquire())
        try:
            value = self._definition.execute(request)
            # Only now: a fixture left by an earlier module may be set up again with another value.
            self._is_set_up = True
            return value
        finally:
            self._lock.release()


class _Test:
    """One of the concurrent tests: its greenlet, its fixtures and its part of pytest's state."""

    def __init__(self, item: pytest.Function, shared: _SharedFixtures, *, limit: float) -> None:
        self.item = item
        self.reports: list[pytest.TestReport] = []
        self._limit = limit
        self._collectors = item.listchain()[:-1]
        self._state = SetupState()
        self._state.stack = dict(item.session._setupstate.stack)
        item._fixtureinfo = dataclasses.replace(
            item._fixtureinfo,
            name2fixturedefs={
                name: tuple(_own(each, shared) for each in definitions)
                for name, definitions in item._fixtureinfo.name2fixturedefs.items()
            },
        )
        item._initrequest()

    def runner(self) -> Any:
        """Return pytest-asyncio's runner, before any greenlet needs it."""
        self._state.stack[self.item] = ([], None)
        try:
            return self._switch(lambda: self.item._request.getfixturevalue(RUNNER))
        finally:
            del self._state.stack[self.item]

    async def run(self) -> None:
        """Set up, call and tear down the test in a greenlet, and await its coroutines."""
        running = greenlet(self._protocol)
        running.gr_context = contextvars.copy_context()
        wanted = self._switch(running.switch)
        while not running.dead:
            try:
                value = await self._awaited(*wanted)
            except BaseException:  # noqa: BLE001 - it belongs to the test
                wanted = self._switch(partial(running.throw, *sys.exc_info()))
            else:
                wanted = self._switch(partial(running.switch, value))

    async def _awaited(
        self, coroutine: Coroutine[Any, Any, Any], context: contextvars.Context | None
    ) -> Any:
        async with asyncio.timeout(self._limit):
            return await asyncio.create_task(coroutine, context=context)

    def _switch(self, into: Callable[[], Any]) -> Any:
        """Continue the test with its own part of pytest's state."""
        session = self.item.session
        outer, session._setupstate = session._setupstate, self._state
        try:
            return into()
        finally:
            session._setupstate = outer

    def _protocol(self) -> None:
        item = self.item
        after = SimpleNamespace(listchain=lambda: self._collectors)
        if self._phase("setup", lambda: self._state.setup(item)).passed:
            self._phase("call", item.runtest)
        self._phase("teardown", lambda: self._state.teardown_exact(after), nextitem=after)  # type: ignore[arg-type]
        item._request = False  # type: ignore[assignment]
        item.funcargs = None  # type: ignore[assignment]

    def _phase(self, when: Phase, act: Callable[[], None], **more: Any) -> pytest.TestReport:
        """Do what pytest does in a phase, except what would affect the other tests."""
        manager = self.item.config.pluginmanager
        others = [manager.get_plugin(each) for each in _OF_THE_PROCESS]
        hook = manager.subset_hook_caller(f"pytest_runtest_{when}", filter(None, others))

        def body() -> None:
            hook(item=self.item, **more)
            act()

        call = pytest.CallInfo.from_call(body, when=when, reraise=_ENDS_THE_SESSION)
        report: pytest.TestReport = self.item.ihook.pytest_runtest_makereport(
            item=self.item, call=call
        )
        self.reports.append(report)
        return report


def _own(definition: FixtureDef[Any], shared: _SharedFixtures) -> Any:
    """Return a copy of the definition for this test, or the shared one."""
    if definition._scope is not Scope.Function:
        return shared.of(definition)
    own = copy.copy(definition)
    own._finalizers = []  # type: ignore[misc]
    own.cached_result = None
    return own
