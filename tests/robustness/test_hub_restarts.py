"""Runs continue as usual after the API server has stopped, or has been silent, for a while."""

import asyncio
from collections.abc import Callable

import pytest
from aiohttp import web

from tests.robustness.conftest import Between
from tests.robustness.rollouts import Rollout, Rollouts
from tests.support.fault_proxy import all_sprung, release
from tests.support.servers import PrivateApiServer

SILENCE = 10
"""In seconds: longer than a status write is retried, shorter than a request's timeout."""

IN_PEACE = pytest.param(True, marks=pytest.mark.long("easier than being killed"))
CARRIED_OUT = pytest.param(True, marks=pytest.mark.long("lost responses have tests of their own"))


async def restart(server: PrivateApiServer, *, graceful: bool) -> None:
    await (server.stop() if graceful else server.kill())
    await server.start()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("graceful", [False, IN_PEACE])
async def test_runs_survive_a_restart_of_the_hub_in_mid_stage_and_at_a_gate(
    server: PrivateApiServer, pair: Rollouts, other_pair: Rollouts, graceful: bool
) -> None:
    await in_mid_stage_and_at_gate(pair, other_pair)
    await restart(server, graceful=graceful)
    await asyncio.gather(
        pair.each(Rollout.from_mid_stage_to_end), other_pair.each(Rollout.approve_and_finish)
    )


@pytest.mark.parametrize("carried_out", [False, CARRIED_OUT])
async def test_runs_survive_a_hub_killed_during_a_status_write(
    server: PrivateApiServer, pair: Rollouts, proxied_engine: Between, carried_out: bool
) -> None:
    async with proxied_engine() as proxy:
        await pair.each(Rollout.begin)
        await pair.each(lambda each: each.written("one"))
        traps = [proxy.trap(writes_status(each), carried_out=carried_out) for each in pair]
        updating = asyncio.create_task(pair.each(lambda each: each.update("one")))
        await all_sprung(traps)
        await updating
        await server.kill()
        release(traps)
        await server.start()
        await pair.each(Rollout.finish)


@pytest.mark.usefixtures("engine")
async def test_runs_survive_a_silent_hub_in_mid_stage_and_at_a_gate(
    server: PrivateApiServer, pair: Rollouts, other_pair: Rollouts
) -> None:
    await in_mid_stage_and_at_gate(pair, other_pair)
    reporting = asyncio.create_task(pair.each(lambda each: each.update("one")))
    server.pause()
    try:
        await asyncio.sleep(SILENCE)
    finally:
        server.resume()
    await reporting
    await asyncio.gather(
        pair.each(Rollout.at_gate_asked), other_pair.each(Rollout.approve_and_finish)
    )
    await pair.each(Rollout.approve_and_finish)


async def in_mid_stage_and_at_gate(in_mid_stage: Rollouts, at_gate: Rollouts) -> None:
    """Start all runs, and bring each to the moment when the fault is to occur."""
    await (in_mid_stage + at_gate).each(lambda each: each.begin(gate=True))
    await asyncio.gather(
        in_mid_stage.each(lambda each: each.written("one")), at_gate.each(Rollout.at_gate)
    )


def writes_status(rollout: Rollout) -> Callable[[web.Request], bool]:
    """Match requests that write the run's status."""
    end = f"/{rollout.run}/status"
    return lambda request: request.method == "PATCH" and request.path.endswith(end)
