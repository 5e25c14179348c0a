"""Runs of a placement that wait for each other, on real servers, with a bridge that is stopped."""

import asyncio

import pytest
from temporalio.client import Client

from api.kinds import Scope
from api.runs import UpdateRun
from hub import Json
from planning.identity import RunRef
from planning.policies.queueing import standing
from tests.bridge.support import BridgeProcess
from tests.support.conditions import says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started
from workflows.messages import WORKFLOW, UpdateRunInput

pytestmark = pytest.mark.both_scopes

RUNS = 3


async def prepare(placement: HandPlacement, mode: str, *, runs: int = RUNS, **stage: object) -> str:
    """Create a placement with a policy, one cluster and a snapshot per run; return the cluster."""
    name = placement.name
    cluster = f"{name}-a"
    await placement.create({cluster: {"env": name}}, versions=runs)
    declared = {"name": "one", "labelSelector": {"matchLabels": {"env": name}}, **stage}
    await placement.strategy(name, [declared])
    target = {"kind": placement.scope.placement.kind, "name": name}
    spec = {"targetRefs": [target], "concurrentRuns": mode}
    await placement.write(placement.scope.policy, name, {"spec": spec})
    return cluster


def named(placement: HandPlacement, index: int) -> str:
    return f"{placement.name}-{index}"


async def create(placement: HandPlacement, index: int) -> str:
    """Create the run of a snapshot; return its name."""
    name = named(placement, index)
    await placement.create_run(name, placement.name, index=str(index))
    return name


async def says_queued(placement: HandPlacement, index: int, text: str) -> None:
    """Wait until a run says that it waits, and for whom."""
    await eventually(
        lambda: placement.read_run(named(placement, index)),
        lambda seen: says(seen, "Progressing") == ("False", "UpdateRunQueued", text),
    )


async def finishes(placement: HandPlacement, index: int, cluster: str) -> None:
    """Let a run that has begun finish."""
    await started(placement, cluster, index=index)
    await placement.report(cluster)
    await reaches(placement, named(placement, index), "UpdateRunSucceeded", kind="Succeeded")


async def test_runs_begin_one_after_the_other_although_the_bridge_is_killed(
    bridge: BridgeProcess, placement: HandPlacement
) -> None:
    cluster = await prepare(placement, "Queue")
    first = await create(placement, 0)
    await started(placement, cluster)
    second = await create(placement, 1)
    await says_queued(placement, 1, f"waits for run {first}, next in line")
    await create(placement, 2)
    await says_queued(placement, 2, f"waits for run {first}, 2nd in line")
    report = await eventually(
        lambda: placement.hub.get(
            placement.scope.report, named(placement, 2), namespace=placement.namespace
        ),
        lambda seen: seen["status"].get("queue"),
    )
    assert report["status"]["queue"] == {"position": 2, "behind": first}
    assert report["status"]["waitingFor"] == f"run {first}"

    await bridge.stop()
    await finishes(placement, 0, cluster)
    await bridge.start()
    await finishes(placement, 1, cluster)
    await bridge.stop()
    await finishes(placement, 2, cluster)
    runs = [await placement.read_run(named(placement, each)) for each in range(RUNS)]
    assert [says(run, "Admitted")[0] for run in runs] == ["True"] * RUNS
    assert second == runs[1]["metadata"]["name"]


async def test_runs_created_at_once_begin_one_at_a_time(
    bridge: BridgeProcess, placement: HandPlacement
) -> None:
    number = 5
    cluster = await prepare(placement, "Queue", runs=number)
    most = 0

    async def watch() -> None:
        nonlocal most
        while True:
            begun = [each for each in await runs_of(placement) if standing(each).begun]
            most = max(most, len(begun))
            await asyncio.sleep(0.02)

    watching = asyncio.create_task(watch())
    await asyncio.gather(*(create(placement, each) for each in range(number)))
    for index in range(number):
        await finishes(placement, index, cluster)
    watching.cancel()
    assert most == 1


async def runs_of(placement: HandPlacement) -> list[UpdateRun]:
    kind, namespace = placement.scope.run, placement.namespace
    listed = await placement.hub.list(kind, namespace=namespace)
    found = map(UpdateRun.from_wire, listed.items)
    return [each for each in found if each.spec.placement_name == placement.name]


async def test_a_newer_run_ends_an_older_one_that_waits_at_a_gate(
    bridge: BridgeProcess, placement: HandPlacement
) -> None:
    gate: Json = {"beforeStageTasks": [{"type": "Approval"}]}
    await prepare(placement, "Supersede", **gate)
    older = await create(placement, 0)
    await reaches(placement, older, "UpdateRunWaiting")
    newer = await create(placement, 1)
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
    scope: Scope,
    temporal: Client,
    task_queue: str,
) -> None:
    gate: Json = {"beforeStageTasks": [{"type": "Approval"}]}
    await prepare(placement, "Supersede", **gate)
    await bridge.stop()
    older, newer = [await create(placement, each) for each in (0, 1)]
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
    await says_queued(placement, 1, f"waits for run {older}, next in line")
    await bridge.start()
    await reaches(placement, older, "UpdateRunSuperseded", kind="Succeeded")
    await reaches(placement, newer, "UpdateRunWaiting")


async def test_a_newer_run_is_refused(bridge: BridgeProcess, placement: HandPlacement) -> None:
    cluster = await prepare(placement, "Refuse")
    first = await create(placement, 0)
    await started(placement, cluster)
    second = await create(placement, 1)
    ended = await reaches(placement, second, "UpdateRunFailed", kind="Succeeded")
    assert f"run {first} of the same placement is ahead" in says(ended, "Succeeded")[2]
    await finishes(placement, 0, cluster)


async def test_a_deleted_run_leaves_the_line(
    bridge: BridgeProcess, placement: HandPlacement
) -> None:
    cluster = await prepare(placement, "Queue")
    first = await create(placement, 0)
    await started(placement, cluster)
    for index in (1, 2):
        await create(placement, index)
    await says_queued(placement, 2, f"waits for run {first}, 2nd in line")
    await placement.delete_run(named(placement, 1))
    await says_queued(placement, 2, f"waits for run {first}, next in line")
    await placement.delete_run(first)
    await finishes(placement, 2, cluster)
