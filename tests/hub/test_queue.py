"""The work queue keeps the guarantees of client-go."""

import asyncio
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hub.queue import WorkQueue
from tests.support.eventually import eventually, patience

SHORT = timedelta(milliseconds=20)
LONG = timedelta(hours=1)
KEYS = st.sampled_from("abc")


def at_once(work: Coroutine[Any, Any, str]) -> str:
    """Finish a coroutine that does not wait for anything."""
    with pytest.raises(StopIteration) as done:
        work.send(None)
    result: str = done.value.value
    return result


async def soon(work: Coroutine[Any, Any, str]) -> str:
    return await asyncio.wait_for(work, timeout=patience())


class QueueMachine(RuleBasedStateMachine):
    """Any order of additions and workers: no key is lost, queued twice or taken by two workers."""

    def __init__(self) -> None:
        super().__init__()
        self.queue: WorkQueue[str] = WorkQueue()
        self.held: set[str] = set()
        self.unseen: set[str] = set()

    @rule(key=KEYS)
    def add(self, key: str) -> None:
        self.queue.add(key)
        self.unseen.add(key)

    @precondition(lambda self: len(self.queue) > 0)
    @rule()
    def get(self) -> None:
        key = at_once(self.queue.get())
        assert key not in self.held
        assert key in self.unseen
        self.held.add(key)
        self.unseen.remove(key)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.held)))
        self.held.remove(key)
        self.queue.done(key)

    @invariant()
    def every_unseen_key_is_in_line_once_unless_it_is_held(self) -> None:
        assert len(self.queue) == len(self.unseen - self.held)

    def teardown(self) -> None:
        for key in sorted(self.held):
            self.queue.done(key)
        left = [at_once(self.queue.get()) for _ in range(len(self.queue))]
        assert sorted(left) == sorted(self.unseen)


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=50, stateful_step_count=30)


async def test_changed_keys_go_before_due_ones() -> None:
    queue: WorkQueue[str] = WorkQueue()
    due = [f"due-{each}" for each in range(100)]
    for key in due:
        queue.add_after(key, timedelta(0))
    await eventually(lambda: len(queue) == len(due))
    queue.add("changed")
    queue.add("due-50")
    assert [await soon(queue.get()) for _ in range(3)] == ["changed", "due-50", "due-0"]


async def test_due_keys_get_their_turn_despite_endless_changes() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("due", timedelta(0))
    await eventually(lambda: len(queue) == 1)
    for key in "abcdef":
        queue.add(key)
    assert [await soon(queue.get()) for _ in range(7)] == [*"abcd", "due", *"ef"]


async def test_a_change_while_a_worker_has_the_key_goes_first_afterwards() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    assert await soon(queue.get()) == "a"
    queue.add_after("b", timedelta(0))
    await eventually(lambda: len(queue) == 1)
    queue.add("a")
    queue.done("a")
    assert [await soon(queue.get()) for _ in range(2)] == ["a", "b"]


async def test_a_key_added_three_times_comes_once() -> None:
    queue: WorkQueue[str] = WorkQueue()
    for key in "aba":
        queue.add(key)

    assert [await soon(queue.get()), await soon(queue.get())] == ["a", "b"]
    assert len(queue) == 0


async def test_a_key_added_while_a_worker_has_it_comes_when_that_worker_is_done() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await queue.get()
    queue.add("a")

    assert len(queue) == 0
    queue.done("a")
    assert await soon(queue.get()) == "a"


async def test_get_waits_for_a_key() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    queue.add("a")

    assert await asyncio.wait_for(waiting, timeout=patience()) == "a"


async def test_the_earlier_of_two_delays_wins() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", LONG)
    queue.add_after("a", SHORT)
    queue.add_after("a", LONG)

    assert await soon(queue.get()) == "a"
    queue.done("a")
    assert len(queue) == 0
    queue.close()


async def test_retries_are_delayed_longer_each_time_until_the_key_is_forgotten() -> None:
    queue: WorkQueue[str] = WorkQueue(retry_first=SHORT, retry_most=4 * SHORT)

    assert [queue.retry("a") for _ in range(4)] == [SHORT, 2 * SHORT, 4 * SHORT, 4 * SHORT]
    queue.forget("a")
    assert queue.retry("a") == SHORT
    assert queue.retry("b") == SHORT
    queue.close()


async def test_a_retry_can_have_a_minimum_delay() -> None:
    queue: WorkQueue[str] = WorkQueue()

    assert queue.retry("a", at_least=LONG) == LONG
    queue.close()


async def test_a_closed_queue_has_no_timers_left() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", SHORT)
    queue.close()
    await asyncio.sleep(2 * SHORT.total_seconds())

    assert len(queue) == 0


async def test_a_worker_cancelled_while_it_waits_takes_no_key_with_it() -> None:
    queue: WorkQueue[str] = WorkQueue()
    waiting = asyncio.create_task(queue.get())
    await asyncio.sleep(0)
    waiting.cancel()
    queue.add("a")
    await asyncio.gather(waiting, return_exceptions=True)

    assert await soon(queue.get()) == "a"


async def test_the_queue_counts_keys_and_waiting_time() -> None:
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    queue.add("a")
    await asyncio.sleep(SHORT.total_seconds())
    await queue.get()
    queue.retry("a", at_least=LONG)
    queue.close()

    stats = queue.stats
    assert (stats.added, stats.taken, stats.retried) == (1, 1, 1)
    assert stats.longest_wait >= SHORT
    assert stats.waited == stats.longest_wait
