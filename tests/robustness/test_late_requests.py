"""Requests that reach the hub long after their sender has given up have no effect."""

from collections.abc import Callable

import pytest
from aiohttp import web
from temporalio.client import Client

from tests.robustness.conftest import Between
from tests.robustness.rollouts import Rollout, Rollouts, in_time
from tests.support.conditions import says
from tests.support.fault_proxy import all_arrived, all_sprung, release
from tests.workflows.runs import workflow_id


def patches(end: str) -> Callable[[web.Request], bool]:
    """Match requests that patch a path with this ending."""
    return lambda request: request.method == "PATCH" and request.path.endswith(end)


def first_binding(rollout: Rollout) -> str:
    """The end of the path of the binding that a run writes first."""
    return f"/{rollout.placement.binding_name(rollout.clusters[0])}"


@pytest.mark.parametrize("subresource", ["", "/status"])
async def test_a_late_write_to_a_binding_does_not_disturb_a_later_run(
    pair: Rollouts, proxied_engine: Between, subresource: str
) -> None:
    async with proxied_engine() as proxy:
        traps = [proxy.trap(patches(first_binding(each) + subresource), late=True) for each in pair]
        await pair.each(Rollout.begin)
        await all_sprung(traps)
        await pair.each(lambda each: each.update("one"))
        await pair.each(Rollout.finish)
        await pair.each(Rollout.again)
        await pair.each(lambda each: each.written("one"))
        await all_arrived(traps)
        await pair.each(lambda each: each.update("one"))
        await pair.each(Rollout.finish)


async def test_a_late_first_status_of_a_run_does_not_undo_the_last(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        traps = [proxy.trap(patches(f"/{each.run}/status"), late=True) for each in pair]
        await pair.each(Rollout.begin)
        await all_sprung(traps)
        await pair.each(lambda each: each.update("one"))
        await pair.each(Rollout.finish)
        await all_arrived(traps)
        await pair.each(Rollout.succeeded)


async def test_a_stop_while_an_approval_is_being_accepted_stops_the_run(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        await pair.each(lambda each: each.begin(gate_after=True))
        await pair.each(lambda each: each.update("one"))
        accepting = [proxy.trap(patches(f"/{each.name}-after-one/status")) for each in pair]
        await pair.each(lambda each: each.approved(f"{each.name}-after-one"))
        await all_sprung(accepting)
        await pair.each(lambda each: each.placement.set_state(each.run, "Stop"))
        await pair.each(lambda each: each.reaches("UpdateRunStopped"))
        release(accepting)
        await pair.each(Rollout.approval_after_one_counts)
        for each in pair:
            assert says(await each.settled(), "Progressing")[1] == "UpdateRunStopped"
            assert await each.scheduled("two")
        await pair.each(lambda each: each.placement.set_state(each.run, "Run"))
        await pair.each(Rollout.finish)


async def test_a_late_stop_through_temporal_does_not_undo_a_newer_state(
    rollout: Rollout, proxied_engine: Between, temporal: Client
) -> None:
    async with proxied_engine() as proxy:
        await rollout.begin()
        await rollout.written("one")
        stopping = proxy.trap(patches(f"/{rollout.run}"), late=True)
        handle = temporal.get_workflow_handle(workflow_id(await rollout.read(), rollout.scope))
        await handle.signal("pause")
        await all_sprung([stopping])
        await in_time(rollout.read, lambda run: run["spec"]["state"] == "Stop")
        await rollout.placement.set_state(rollout.run, "Run")
        await rollout.reaches("UpdateRunProgressing")
        await all_arrived([stopping])
        run = await rollout.read()
        assert (run["spec"]["state"], run["metadata"]["generation"]) == ("Run", 3)
        await rollout.update("one")
        await rollout.finish()
