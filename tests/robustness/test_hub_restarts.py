"""The API server ends, or falls silent, and comes back: the runs go on as if it had not."""

import asyncio

import pytest
from aiohttp import web

from tests.robustness.conftest import Between
from tests.robustness.rollouts import Pair, Rollout
from tests.support.servers import PrivateApiServer

SILENCE = 10
"""Seconds: longer than a status write is tried, shorter than a request's time-out."""


async def restart(server: PrivateApiServer, *, graceful: bool) -> None:
    await (server.stop() if graceful else server.kill())
    await server.start()


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("graceful", [True, False])
async def test_runs_outlive_a_restart_in_mid_stage_and_at_a_gate(
    server: PrivateApiServer, pair: Pair, graceful: bool
) -> None:
    await pair.each(lambda each: each.begin(gate=True))
    await pair.each(lambda each: each.written("one"))
    await restart(server, graceful=graceful)

    await pair.each(Rollout.at_gate)
    await restart(server, graceful=graceful)

    await pair.each(approve_and_finish)


@pytest.mark.parametrize("carried_out", [True, False])
async def test_a_run_outlives_a_hub_killed_during_a_status_write(
    server: PrivateApiServer, rollout: Rollout, proxied_engine: Between, carried_out: bool
) -> None:
    def writes_status(request: web.Request) -> bool:
        return request.method == "PATCH" and request.path.endswith(f"{rollout.name}/status")

    async with proxied_engine() as proxy:
        await rollout.begin()
        await rollout.written("one")
        trap = proxy.trap(writes_status, carried_out=carried_out)
        await rollout.update("one")
        await asyncio.wait_for(trap.sprung.wait(), timeout=30)
        await server.kill()
        trap.released.set()
        await server.start()
        await rollout.finish()


@pytest.mark.usefixtures("engine")
async def test_runs_outlive_a_silent_hub_in_mid_stage_and_at_a_gate(
    server: PrivateApiServer, pair: Pair
) -> None:
    await pair.each(lambda each: each.begin(gate=True))
    in_mid_stage, at_gate = pair.rollouts
    await asyncio.gather(in_mid_stage.written("one"), at_gate.at_gate())
    reporting = asyncio.create_task(in_mid_stage.update("one"))
    server.pause()
    try:
        await asyncio.sleep(SILENCE)
    finally:
        server.resume()
    await reporting
    await pair.each(approve_and_finish)


async def approve_and_finish(rollout: Rollout) -> None:
    await rollout.approved(f"{rollout.name}-before-two")
    await rollout.finish()
