"""A controller reconciles every key, even if reconciling fails."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import pytest

from hub import Conflict, Controller, HubError, Key, TooManyRequests, Unavailable
from tests.support.eventually import patience

KEY: Key = ("ns", "a")


@asynccontextmanager
async def running(controller: Controller) -> AsyncIterator[None]:
    task = asyncio.create_task(controller.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


class Reconciler:
    """Fails with the given errors, then succeeds; records each call."""

    def __init__(self, *failures: Exception, again: timedelta | None = None) -> None:
        self.failures = list(failures)
        self.again = again
        self.calls: list[Key] = []
        self.succeeded = asyncio.Event()

    async def __call__(self, key: Key) -> timedelta | None:
        self.calls.append(key)
        if self.failures:
            raise self.failures.pop(0)
        again, self.again = self.again, None
        if again is None:
            self.succeeded.set()
        return again


async def reconciled(reconcile: Reconciler) -> None:
    controller = Controller("test", reconcile, workers=2)
    async with running(controller), asyncio.timeout(patience()):
        controller.queue.add(KEY)
        await reconcile.succeeded.wait()


@pytest.mark.parametrize(
    "failure", [Conflict("changed meanwhile"), Unavailable("gone"), TooManyRequests("busy")]
)
async def test_temporary_errors_are_retried_quietly(
    failure: HubError, caplog: pytest.LogCaptureFixture
) -> None:
    if isinstance(failure, TooManyRequests):
        failure.retry_after = timedelta(milliseconds=10)
    reconcile = Reconciler(failure)
    with caplog.at_level(logging.INFO):
        await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]
    assert caplog.records == []


async def test_any_other_error_is_logged_with_its_stack_trace_and_retried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reconcile = Reconciler(RuntimeError("a bug"))
    await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]
    (record,) = caplog.records
    assert "test failed on ns/a" in record.getMessage()
    assert record.exc_info is not None


async def test_a_requested_retry_delay_is_respected() -> None:
    failure = TooManyRequests("busy")
    failure.retry_after = timedelta(milliseconds=80)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await reconciled(Reconciler(failure))

    assert loop.time() - started >= 0.08


async def test_a_returned_delay_schedules_another_reconciliation() -> None:
    reconcile = Reconciler(again=timedelta(milliseconds=5))
    await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]


async def test_several_keys_are_reconciled_in_parallel_but_each_by_one_worker() -> None:
    busy: set[Key] = set()
    most = 0
    done = asyncio.Event()

    async def reconcile(key: Key) -> None:
        nonlocal most
        assert key not in busy
        busy.add(key)
        most = max(most, len(busy))
        controller.queue.add(key) if most < 3 else done.set()
        await asyncio.sleep(0.01)
        busy.remove(key)

    controller = Controller("test", reconcile, workers=3)
    async with running(controller), asyncio.timeout(patience()):
        for name in "abc":
            controller.queue.add(("ns", name))
        await done.wait()

    assert most == 3


async def test_cancelling_a_controller_cancels_its_reconciliations() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def reconcile(key: Key) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    controller = Controller("test", reconcile)
    async with running(controller), asyncio.timeout(patience()):
        controller.queue.add(KEY)
        controller.queue.add_after(("ns", "later"), timedelta(hours=1))
        await started.wait()

    assert ended.is_set()
