"""A controller brings every key to where it should be, whatever its reconcile does."""

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
    """Fails with the given errors, then succeeds; notes each call."""

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
async def test_what_passes_by_itself_is_retried_without_noise(
    failure: HubError, caplog: pytest.LogCaptureFixture
) -> None:
    if isinstance(failure, TooManyRequests):
        failure.retry_after = timedelta(milliseconds=10)
    reconcile = Reconciler(failure)
    with caplog.at_level(logging.INFO):
        await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]
    assert caplog.records == []


async def test_any_other_error_is_logged_with_its_stack_and_retried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reconcile = Reconciler(RuntimeError("a bug"))
    await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]
    (record,) = caplog.records
    assert "test failed on ns/a" in record.getMessage()
    assert record.exc_info is not None


async def test_a_server_that_asks_for_time_gets_it() -> None:
    failure = TooManyRequests("busy")
    failure.retry_after = timedelta(milliseconds=80)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await reconciled(Reconciler(failure))

    assert loop.time() - started >= 0.08


async def test_a_returned_delay_means_look_again() -> None:
    reconcile = Reconciler(again=timedelta(milliseconds=5))
    await reconciled(reconcile)

    assert reconcile.calls == [KEY, KEY]


async def test_one_key_is_never_with_two_workers_and_several_keys_are() -> None:
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


async def test_cancelling_ends_what_is_under_way() -> None:
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
