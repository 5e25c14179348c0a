"""Record the histories of a release, for the replay tests: `python -m tests.workflows.record`.

Part of every release: histories are kept forever, because a run that an older version started has
to continue with a newer one. Three runs are recorded. An eventful one has both kinds of gate, a
stop and a resume from either side, a recheck, a cluster that is stuck for a while and one that is
removed; one fails because another run takes its cluster; and a long one continues as new.
"""

import asyncio
import re
import sys
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path

from temporalio.client import Client, WorkflowHandle, WorkflowHistory

from api.kinds import CLUSTER_SCOPE
from bridge import BridgeSettings
from hub import Hub, Json
from tests.support.engine import running_engine
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import HUB, Servers
from tests.support.temporal_server import TemporalServer
from tests.workflows.runs import reaches, started, workflow_id
from workflows.messages import Approve, ChangeState, Recheck
from workflows.plugin import connect

HISTORIES = Path(__file__).parent / "histories"
"""A folder for each release, with a file for each execution of a workflow."""
KINDS = ("eventful", "failed", "long-1", "long-2")
"""Executions that must exist for each release."""
VERSION = version("fleetgate")
RUN = "eventful"
STUCK_AFTER = timedelta(seconds=1)
NEW_AFTER = 20
"""Events after which Temporal suggests to continue as new: fewer than a stage of one cluster."""


async def main(release: str) -> None:
    """Start servers, run the three runs, write their histories."""
    servers = Servers(Servers.make_folder())
    folder = HISTORIES / release
    try:
        address = await servers.temporal_address()
        async with (
            await Hub.connect(await servers.cluster(HUB)) as hub,
            impatient(servers, servers.folder / "impatient").running() as soon,
        ):
            client = await connect({"TEMPORAL_ADDRESS": address})
            await _record(folder, "eventful", await _eventful(hub, client), client)
            await _record(folder, "failed", await _failed(hub, client), client)
            client = await connect({"TEMPORAL_ADDRESS": soon.address})
            await _record(folder, "long", await _long(hub, client), client)
    finally:
        servers.end()


def impatient(servers: Servers, folder: Path) -> TemporalServer:
    """Return a Temporal server, not started yet, that soon makes workflows continue as new."""
    limit = f"limit.historyCount.suggestContinueAsNew={NEW_AFTER}"
    return TemporalServer(servers, folder, f"--dynamic-config-value={limit}")


async def _record(folder: Path, name: str, of_run: str, client: Client) -> None:
    """Write the histories of a run's workflow, numbered if it has several executions."""
    found = await _executions(of_run, client)
    names = [name] if len(found) == 1 else [f"{name}-{each + 1}" for each in range(len(found))]
    for each, history in zip(names, found, strict=True):
        await asyncio.to_thread(_write, folder / f"{each}.json", history.to_json())


async def _executions(of_run: str, client: Client) -> list[WorkflowHistory]:
    """Return the histories of all executions, the first one first."""
    found: list[WorkflowHistory] = []
    run_id: str | None = None  # the latest
    while run_id != "":
        handle = client.get_workflow_handle(of_run, run_id=run_id)
        found.insert(0, await handle.fetch_history())
        first = found[0].events[0].workflow_execution_started_event_attributes
        run_id = first.continued_execution_run_id
    return found


def _write(path: Path, history: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Remove the names of the machine and user that recorded the history, and file paths.
    anonymous = re.sub(r'"\d+@[^"]+"', '"worker"', history)
    anonymous = re.sub(r'("stackTrace": )"(\\.|[^"\\])*"', r'\1""', anonymous)
    path.write_text(anonymous + "\n")


async def _eventful(hub: Hub, client: Client) -> str:
    placement = HandPlacement(hub, CLUSTER_SCOPE, RUN)
    async with running_engine(hub, client, settings=BridgeSettings(stuck_after=STUCK_AFTER)):
        of_run = workflow_id(await _prepare(placement), CLUSTER_SCOPE)
        handle = client.get_workflow_handle(of_run)
        await _staging(placement, handle)
        await _canary(placement, handle)
        await reaches(placement, RUN, "UpdateRunSucceeded", kind="Succeeded")
        await handle.result()
    return of_run


async def _failed(hub: Hub, client: Client) -> str:
    """Record a run of an older snapshot whose cluster is taken by a run of a newer one."""
    placement = HandPlacement(hub, CLUSTER_SCOPE, "contested")
    async with running_engine(hub, client, settings=BridgeSettings()):
        await placement.create({"five": {"env": "contested"}}, versions=2)
        selector = {"matchLabels": {"env": "contested"}}
        await placement.strategy("contested", [{"name": "all", "labelSelector": selector}])
        run = await placement.create_run("contested", "contested", index="0")
        await started(placement, "five")
        await placement.create_run("winner", "contested", index="1")
        await reaches(placement, "contested", "UpdateRunFailed", kind="Succeeded")
        await started(placement, "five", index=1)
        await placement.report("five")
        await reaches(placement, "winner", "UpdateRunSucceeded", kind="Succeeded")
        of_run = workflow_id(run, CLUSTER_SCOPE)
        await client.get_workflow_handle(of_run).result()
    return of_run


async def _long(hub: Hub, client: Client) -> str:
    """Record a run with three stages, each as long as Temporal wants an execution to be."""
    placement = HandPlacement(hub, CLUSTER_SCOPE, "long")
    clusters = ("six", "seven", "eight")
    stages = [{"name": each, "labelSelector": {"matchLabels": {"env": each}}} for each in clusters]
    async with running_engine(hub, client, settings=BridgeSettings()):
        await placement.create({each: {"env": each} for each in clusters})
        await placement.strategy("long", stages)
        run = await placement.create_run("long", "long", index="0")
        for cluster in clusters:
            await started(placement, cluster)
            await placement.report(cluster)
        await reaches(placement, "long", "UpdateRunSucceeded", kind="Succeeded")
        of_run = workflow_id(run, CLUSTER_SCOPE)
        await client.get_workflow_handle(of_run).result()
    return of_run


async def _prepare(placement: HandPlacement) -> Json:
    await placement.create(
        {"one": {"env": "staging"}, "two": {"env": "canary"}, "three": {"env": "canary"}}
    )
    await placement.member("four", {})
    await placement.binding("four", state="Unscheduled")
    approval, wait = {"type": "Approval"}, {"type": "TimedWait", "waitTime": "1s"}
    staging = {"name": "staging", "labelSelector": {"matchLabels": {"env": "staging"}}}
    canary = {"name": "canary", "labelSelector": {"matchLabels": {"env": "canary"}}}
    await placement.strategy(
        RUN,
        [
            staging | {"afterStageTasks": [wait]},
            {"name": "nobody"},
            canary | {"beforeStageTasks": [approval], "afterStageTasks": [approval]},
        ],
    )
    run = await placement.create_run(RUN, RUN, index="0", state="Initialize")
    await reaches(placement, RUN, "UpdateRunInitializedSuccessfully", kind="Initialized")
    return run


async def _staging(placement: HandPlacement, handle: WorkflowHandle[object, object]) -> None:
    await placement.set_state(RUN, "Run")
    await started(placement, "one")
    await reaches(placement, RUN, "UpdateRunStuck")
    await handle.signal("recheck", Recheck(reason="somebody looked"))
    await placement.report("one")


async def _canary(placement: HandPlacement, handle: WorkflowHandle[object, object]) -> None:
    await eventually(lambda: placement.find_approval(f"{RUN}-before-canary"), bool)
    await placement.approve(f"{RUN}-before-canary")
    await started(placement, "three")
    await handle.execute_update("pause", ChangeState(by="alice", comment="lunch"))
    await placement.report("three")
    await reaches(placement, RUN, "UpdateRunStopped")
    await placement.set_state(RUN, "Run")
    await started(placement, "two")
    await placement.report("two")
    await eventually(lambda: placement.find_approval(f"{RUN}-after-canary"), bool)
    await reaches(placement, RUN, "UpdateRunWaiting")
    await handle.execute_update("approve", Approve(by="alice", comment="fine"))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else VERSION))
