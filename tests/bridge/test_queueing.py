"""Runs of a placement that wait for each other, on real servers, with a bridge that is stopped."""

import asyncio

import pytest
from temporalio.client import Client

from api.kinds import Scope
from hub import Json
from planning.identity import RunRef
from tests.bridge.support import BridgeProcess
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.queued_runs import QueuedRuns
from tests.workflows.runs import reaches
from workflows.messages import WORKFLOW, UpdateRunInput


@pytest.fixture
def runs(placement: HandPlacement) -> QueuedRuns:
    return QueuedRuns(placement)


async def test_runs_begin_one_after_the_other_although_the_bridge_is_killed(
    bridge: BridgeProcess, placement: HandPlacement, runs: QueuedRuns
) -> None:
    await runs.prepare("Queue")
    first = await runs.create(0)
    await runs.begins(0)
    await runs.create(1)
    await runs.says_queued(1, f"waits for run {first}, next in line")
    await runs.create(2)
    await runs.says_queued(2, f"waits for run {first}, 2nd in line")
    report = await eventually(
        lambda: placement.hub.get(
            placement.scope.report, runs.name(2), namespace=placement.namespace
        ),
        lambda seen: seen["status"].get("queue"),
    )
    assert report["status"]["queue"] == {"position": 2, "behind": first}
    assert report["status"]["waitingFor"] == f"run {first}"

    await bridge.stop()
    await runs.finishes(0)
    await bridge.start()
    await runs.finishes(1)
    await bridge.stop()
    await runs.finishes(2)
    for index in range(3):
        run = await placement.read_run(runs.name(index))
        assert says(run, "Admitted")[0] == "True"


async def test_runs_created_at_once_begin_one_at_a_time(
    bridge: BridgeProcess, placement: HandPlacement, runs: QueuedRuns
) -> None:
    number = 5
    await runs.prepare("Queue", runs=number)
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            most = max(most, len(await runs.begun()))
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(runs.create(each) for each in range(number)))
    for index in range(number):
        await runs.finishes(index)
    watching.cancel()
    assert most == 1


async def test_a_newer_run_ends_an_older_one_that_waits_at_a_gate(
    bridge: BridgeProcess, placement: HandPlacement, runs: QueuedRuns
) -> None:
    gate: Json = {"beforeStageTasks": [{"type": "Approval"}]}
    await runs.prepare("Supersede", **gate)
    older = await runs.create(0)
    await reaches(placement, older, "UpdateRunWaiting")
    newer = await runs.create(1)
    ended = await reaches(placement, older, "UpdateRunSuperseded", kind="Succeeded")
    assert says(ended, "Succeeded") == (
        "False",
        "UpdateRunSuperseded",
        f"cannot continue the updateRun: run {newer} replaces this one",
    )
    await reaches(placement, newer, "UpdateRunWaiting")


async def test_an_older_run_without_a_workflow_is_told_once_it_has_one(
    bridge: BridgeProcess,
    placement: HandPlacement,
    runs: QueuedRuns,
    scope: Scope,
    temporal: Client,
    task_queue: str,
) -> None:
    gate: Json = {"beforeStageTasks": [{"type": "Approval"}]}
    await runs.prepare("Supersede", **gate)
    await bridge.stop()
    older, newer = [await runs.create(each) for each in (0, 1)]
    body = await placement.read_run(newer)
    ref = RunRef(
        scope_name=scope.name,
        namespace=placement.namespace,
        name=newer,
        uid=body["metadata"]["uid"],
    )
    await temporal.start_workflow(
        WORKFLOW, UpdateRunInput(run=ref), id=ref.workflow_id, task_queue=task_queue
    )
    await runs.says_queued(1, f"waits for run {older}, next in line")
    await bridge.start()
    await reaches(placement, older, "UpdateRunSuperseded", kind="Succeeded")
    await reaches(placement, newer, "UpdateRunWaiting")


async def test_a_newer_run_is_refused(
    bridge: BridgeProcess, placement: HandPlacement, runs: QueuedRuns
) -> None:
    await runs.prepare("Refuse")
    first = await runs.create(0)
    await runs.begins(0)
    second = await runs.create(1)
    ended = await reaches(placement, second, "UpdateRunFailed", kind="Succeeded")
    assert f"run {first} of the same placement is ahead" in says(ended, "Succeeded")[2]
    await runs.finishes(0)


async def test_a_deleted_run_leaves_the_line(
    bridge: BridgeProcess, placement: HandPlacement, runs: QueuedRuns
) -> None:
    await runs.prepare("Queue")
    first = await runs.create(0)
    await runs.begins(0)
    for index in (1, 2):
        await runs.create(index)
    await runs.says_queued(2, f"waits for run {first}, 2nd in line")
    await placement.delete_run(runs.name(1))
    await runs.says_queued(2, f"waits for run {first}, next in line")
    await placement.delete_run(first)
    await runs.finishes(2)
