"""Watches break, repeat events or fall behind: the engine still catches up."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp
import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from hub.cache import SHORTEST_STREAM
from tests.robustness.conftest import Between
from tests.robustness.rollouts import Rollout, Rollouts, in_time, writes_binding
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.fault_proxy import FaultProxy, Faults, all_sprung, release
from tests.support.servers import PrivateApiServer, Servers
from tests.workflows.runs import workflow_id


async def compact(etcd_address: str) -> None:
    """Compact etcd: drop every version of every object except the latest."""
    everything = {"key": base64.b64encode(b"/").decode(), "limit": "1"}
    async with aiohttp.ClientSession(etcd_address) as http:
        async with http.post("/v3/kv/range", json=everything) as found:
            revision = (await found.json())["header"]["revision"]
        body = {"revision": revision, "physical": True}
        async with http.post("/v3/kv/compaction", json=body) as compacted:
            assert compacted.status == 200, await compacted.text()


async def test_changes_missed_by_a_broken_watch_are_caught_up_on(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        await pair.each(lambda each: each.begin(gate=True))
        await pair.each(lambda each: each.written("one"))
        async with proxy.no_watches():
            await pair.each(lambda each: each.update("one"))
        await pair.each(Rollout.at_gate_asked)
        async with proxy.no_watches():
            await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await pair.each(Rollout.finish)


@pytest.mark.long("the test of all faults together also ends watches early")
async def test_watches_that_always_end_early_do_not_matter(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine(seed=2) as proxy:
        proxy.faults = Faults(longest_watch=timedelta(milliseconds=400))
        await pair.each(Rollout.from_begin_to_end)
        assert proxy.done["watch"]


async def test_events_that_arrive_three_times_count_once(
    pair: Rollouts, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        proxy.faults = Faults(copies=3)
        await pair.each(Rollout.from_begin_to_end)


async def test_an_engine_whose_versions_are_compacted_away_lists_again(
    pair: Rollouts,
    other_pair: Rollouts,
    proxied_engine: Between,
    server: PrivateApiServer,
    servers: Servers,
) -> None:
    async with proxied_engine() as proxy:
        await (pair + other_pair).each(lambda each: each.begin(gate=True))
        await pair.each(lambda each: each.written("one"))
        await other_pair.each(Rollout.at_gate)
        async with forgotten(proxy, server, servers, pair):
            await pair.each(lambda each: each.update("one"))
            await other_pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await pair.each(Rollout.at_gate_asked)
        await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await (pair + other_pair).each(Rollout.finish)
        assert proxy.done["gone"]


@asynccontextmanager
async def forgotten(
    proxy: FaultProxy, server: PrivateApiServer, servers: Servers, rollouts: Rollouts
) -> AsyncIterator[None]:
    """Let the hub forget the changes in this context before any watch can report them."""
    # After a shorter watch, which counts as broken, the engine would list anyway.
    enough = 1.5 * SHORTEST_STREAM.total_seconds()
    await eventually(lambda: proxy.watched_for() > enough)
    async with proxy.no_watches(cleanly=True):
        yield
        await compact(await servers.etcd_address())
        # A restart also clears the API server's cache of recent events.
        await server.kill()
        await server.start()
        await rollouts.each(Rollout.watchable)


async def test_a_stop_that_no_watch_reported_takes_effect(
    rollout: Rollout, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        await rollout.begin()
        await rollout.written("one")
        async with proxy.no_watches():
            await rollout.placement.set_state(rollout.name, "Stop")
        await rollout.reaches("UpdateRunStopping")
        await rollout.update("one")
        await rollout.reaches("UpdateRunStopped")
        async with proxy.no_watches():
            await rollout.placement.set_state(rollout.name, "Run")
        await rollout.finish()


async def test_a_placement_deleted_unnoticed_fails_the_run(
    rollout: Rollout, proxied_engine: Between
) -> None:
    async with proxied_engine() as proxy:
        await rollout.begin(gate=True)
        await rollout.at_gate()
        placement = rollout.placement
        async with proxy.no_watches():
            kind = placement.scope.placement
            await rollout.hub.delete(kind, placement.name, namespace=placement.namespace)
        run = await rollout.reaches("UpdateRunFailed", kind="Succeeded")
        assert says(run, "Succeeded")[2].endswith("parent placement not found")


@pytest.mark.parametrize("by_force", [False, True])
async def test_a_run_deleted_unnoticed_leaves_nothing_behind(
    rollout: Rollout, proxied_engine: Between, temporal: Client, by_force: bool
) -> None:
    async with proxied_engine() as proxy:
        await rollout.begin(gate=True)
        request = await rollout.at_gate()
        run = await rollout.read()
        async with proxy.no_watches():
            if by_force:
                await rollout.without_finalizer()
            await rollout.placement.delete_run(rollout.name)
        await rollout.absent()
        await in_time(lambda: rollout.approval_names(), lambda found: request not in found)
        handle = temporal.get_workflow_handle(workflow_id(run, rollout.scope))
        await eventually(
            handle.describe, lambda seen: seen.status is not WorkflowExecutionStatus.RUNNING
        )


async def test_a_binding_that_others_replace_before_the_engine_sees_its_write_fails_the_run(
    rollout: Rollout, proxied_engine: Between, server: PrivateApiServer, servers: Servers
) -> None:
    cluster, placement = rollout.clusters[0], rollout.placement
    kind, name = placement.scope.binding, placement.binding_name(cluster)
    async with proxied_engine() as proxy:
        writing = proxy.trap(writes_binding(rollout, status=False))
        await rollout.begin()
        await all_sprung([writing])
        async with forgotten(proxy, server, servers, Rollouts([rollout])):
            release([writing])
            await rollout.written("one")
            await rollout.hub.delete(kind, name, namespace=placement.namespace)
            await placement.binding(cluster)
        run = await rollout.reaches("UpdateRunFailed", kind="Succeeded")
    assert (
        f"the binding of the updating cluster `{cluster}` in the stage `one` is not up-to-date"
        in says(run, "Succeeded")[2]
    )
    assert (await placement.read_binding(cluster))["spec"]["state"] == "Scheduled"
