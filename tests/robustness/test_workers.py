"""Several workers at once, and workers that are killed, paused, or have a wrong clock."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.robustness.rollouts import Rollout, Rollouts, writes_binding
from tests.robustness.worker_processes import FAKETIME, NewWorker
from tests.support.fault_proxy import FaultProxy, all_sprung, release
from tests.support.servers import PrivateApiServer

PAUSE = 8
"""In seconds: longer than a worker may be silent before another one takes over."""

wrong_clock = pytest.mark.skipif(not FAKETIME, reason="needs the package libfaketime")


async def test_two_workers_do_everything_once_even_if_one_is_killed(
    pair: Rollouts, new_worker: NewWorker
) -> None:
    first, second = new_worker(), new_worker()
    await asyncio.gather(first.start(), second.start())
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(lambda each: each.written("one"))
    first.kill()
    await pair.each(Rollout.at_gate)
    await first.start()
    second.kill()
    await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
    await pair.each(Rollout.finish)


@pytest.mark.parametrize(
    "clock", ["", *(pytest.param(each, marks=wrong_clock) for each in ("+1h", "-30m"))]
)
async def test_a_worker_killed_while_it_writes_bindings_is_replaced(
    pair: Rollouts,
    other_pair: Rollouts,
    server: PrivateApiServer,
    new_worker: NewWorker,
    tmp_path: Path,
    clock: str,
) -> None:
    kubeconfig = tmp_path / "proxied.kubeconfig"
    async with FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy:
        first, second = new_worker(kubeconfig=kubeconfig), new_worker(clock=clock)
        await first.start()
        traps = [
            proxy.trap(writes_binding(each, status=False), carried_out=carried_out)
            for rollouts, carried_out in ((pair, True), (other_pair, False))
            for each in rollouts
        ]
        await (pair + other_pair).each(Rollout.begin)
        await all_sprung(traps)
        first.kill()
        release(traps)
    await second.start()
    await (pair + other_pair).each(lambda each: each.update("one"))
    await (pair + other_pair).each(Rollout.finish)


@pytest.mark.long("a process with a long pause")
async def test_a_single_worker_continues_after_a_pause(
    pair: Rollouts, new_worker: NewWorker
) -> None:
    worker = new_worker()
    await worker.start()
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(lambda each: each.written("one"))
    worker.pause()
    await pair.each(lambda each: each.update("one"))
    await asyncio.sleep(PAUSE)
    worker.resume()
    await pair.each(Rollout.at_gate_asked)
    await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
    await pair.each(Rollout.finish)


@pytest.mark.long("two processes, one of them with a long pause")
async def test_a_worker_does_not_repeat_after_a_pause_what_another_did_meanwhile(
    pair: Rollouts, new_worker: NewWorker
) -> None:
    paused, other = new_worker(), new_worker()
    await paused.start()
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(lambda each: each.written("one"))
    paused.pause()
    await asyncio.gather(other.start(), asyncio.sleep(PAUSE))
    await pair.each(Rollout.at_gate)
    paused.resume()
    await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
    await pair.each(Rollout.finish)


@wrong_clock
async def test_a_clock_that_jumps_in_mid_run_does_not_matter(
    rollout: Rollout, new_worker: NewWorker
) -> None:
    begun = datetime.now(UTC) - timedelta(seconds=1)
    worker = new_worker(clock="+0")
    assert worker.clock is not None
    await worker.start()
    await rollout.begin(gate=True)
    await rollout.written("one")
    worker.clock.write_text("+1h\n")
    request = await rollout.at_gate()
    worker.clock.write_text("-30m\n")
    await rollout.approved(request)
    await rollout.finish()

    await rollout.told_times_since(begun)


@wrong_clock
async def test_a_write_with_a_fast_clock_is_not_mistaken_for_one_of_a_later_run(
    rollout: Rollout, server: PrivateApiServer, new_worker: NewWorker, tmp_path: Path
) -> None:
    kubeconfig = tmp_path / "proxied.kubeconfig"
    async with FaultProxy.between(server, kubeconfig=kubeconfig, seed=0) as proxy:
        await new_worker(kubeconfig=kubeconfig, clock="+1h").start()
        await rollout.begin()
        await rollout.update("one")
        await rollout.finish()

        trap = proxy.trap(writes_binding(rollout, status=True), carried_out=False)
        trap.released.set()
        await rollout.again()
        await rollout.update("one")
        await rollout.finish()
        assert trap.sprung.is_set()
