"""The hub is restored from a backup older than Temporal's state: nothing is rolled out twice."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import partial

import pytest
from temporalio.client import Client, WorkflowExecutionStatus

from api.kinds import SCOPES
from hub import Hub
from tests.robustness.conftest import running_engine
from tests.robustness.restorable_hub import RestorableHub
from tests.robustness.rollouts import Rollout, Rollouts, in_time
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.servers import Servers
from tests.workflows.runs import workflow_id

ABORT = "cannot continue the updateRun: the hub was restored from a backup that is older than "
RUNNING = WorkflowExecutionStatus.RUNNING
NOTHING_AGAIN = (
    "; nothing was rolled out again; create a new run for the snapshot that the clusters should "
    "have"
)


@pytest.fixture(scope="module")
async def restorable(
    servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[RestorableHub]:
    """A running hub that can be restored."""
    hub = RestorableHub(servers, tmp_path_factory.mktemp("restorable"))
    await hub.start()
    await hub.install()
    yield hub
    await hub.stop()


def of_both_scopes(hub: Hub, name: str) -> Rollouts:
    return Rollouts([Rollout(hub, SCOPES[each], f"{name}-{each[0]}") for each in sorted(SCOPES)])


async def in_the_middle_of_stage_two(rollout: Rollout) -> None:
    """Finish one cluster of stage two, and leave one in flight."""
    await rollout.approved(f"{rollout.name}-before-two")
    await rollout.written("two")
    done, _ = rollout.stages["two"]
    await rollout.placement.report(done)
    await in_time(
        rollout.read,
        lambda run: says(run["status"]["stagesStatus"][1]["clusters"][0], "Succeeded")[0] == "True",
    )


async def failed(rollout: Rollout) -> str:
    """Wait until the run has failed; return the message."""
    run = await in_time(rollout.read, lambda seen: says(seen, "Succeeded")[0] == "False")
    assert says(run, "Progressing")[1] == "UpdateRunFailed"
    return says(run, "Succeeded")[2]


@pytest.mark.parametrize(
    "engine_stays",
    [
        pytest.param(True, id="engine stays"),
        pytest.param(False, id="engine restarts", marks=pytest.mark.long("half a minute")),
    ],
)
async def test_runs_that_did_more_than_a_restored_hub_knows_fail(
    restorable: RestorableHub, temporal: Client, unique: str, engine_stays: bool
) -> None:
    async with (
        await Hub.connect(restorable.kubeconfig, manager="kubectl-edit") as hub,
        AsyncExitStack() as engine,
    ):
        working = partial(running_engine, restorable.kubeconfig, temporal, queue=unique)
        await engine.enter_async_context(working())
        over, further, later = (of_both_scopes(hub, f"{unique}-{each}") for each in "ofl")
        await (over + further).each(lambda each: each.begin(gate=True))
        await (over + further).each(Rollout.at_gate)
        await restorable.back_up()

        await asyncio.gather(
            over.each(Rollout.approve_and_finish),
            further.each(in_the_middle_of_stage_two),
            later.each(lambda each: each.begin()),
        )
        await later.each(lambda each: each.written("one"))
        workflows = [workflow_id(await each.read(), each.scope) for each in later]
        if not engine_stays:
            await engine.aclose()
        await restorable.restore()
        if not engine_stays:
            await engine.enter_async_context(working())

        for rollout in over:
            text = await failed(rollout)
            assert text.startswith(f"{ABORT}this run's end (Temporal: succeeded at 20")
            assert text.endswith(f"Z){NOTHING_AGAIN}")
        for rollout in further:
            assert await failed(rollout) == (
                f"{ABORT}what this run has done: 1 updated cluster(s) have earlier content "
                f"again ({rollout.stages['two'][0]}){NOTHING_AGAIN}"
            )
        for rollout in over:
            assert await rollout.scheduled("two"), "a binding was written again"
        for rollout in further:
            # The cluster in flight may be written again until the run ends.
            done = await rollout.placement.read_binding(rollout.stages["two"][0])
            assert done["spec"]["state"] == "Scheduled", "a binding was written again"
        # The hub does not know of runs that are newer than the backup.
        for workflow in workflows:
            handle = temporal.get_workflow_handle(workflow)
            await eventually(handle.describe, lambda seen: seen.status is not RUNNING)
