"""Record the history of one eventful run, for the replay test: `python -m tests.workflows.record`.

The run meets both kinds of gate, a stop and a resume from either side, a second look, a cluster
that is stuck for a while and one that is removed. Recorded histories are kept for ever: a
workflow that was begun by an older version has to go on with a newer one.
"""

import asyncio
import re
import sys
from datetime import timedelta
from pathlib import Path

from temporalio.client import Client, WorkflowHandle
from temporalio.worker import Worker

from activities.registry import all_activities
from api.kinds import CLUSTER_SCOPE
from bridge import Bridge, BridgeSettings
from hub import Hub, Json
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.servers import HUB, Servers
from tests.workflows.runs import reaches, started, workflow_id
from workflows.messages import Approve, ChangeState, Recheck
from workflows.plugin import connect

HISTORIES = Path(__file__).parent / "histories"
RUN = "eventful"
STUCK_AFTER = timedelta(seconds=1)


async def main(name: str) -> None:
    """Start servers, play the run, write its history."""
    servers = Servers(Servers.make_folder())
    try:
        address = await servers.temporal_address()
        async with await Hub.connect(await servers.cluster(HUB)) as hub:
            client = await connect({"TEMPORAL_ADDRESS": address})
            history = await _play(hub, client)
        await asyncio.to_thread(_write, name, history)
    finally:
        servers.end()


def _write(name: str, history: str) -> None:
    HISTORIES.mkdir(exist_ok=True)
    # Who recorded it, on which machine, is nobody's business.
    anonymous = re.sub(r'"\d+@[^"]+"', '"worker"', history)
    anonymous = re.sub(r'("stackTrace": )"(\\.|[^"\\])*"', r'\1""', anonymous)
    (HISTORIES / f"{name}.json").write_text(anonymous + "\n")


async def _play(hub: Hub, client: Client) -> str:
    bridge = Bridge(hub, client, settings=BridgeSettings(stuck_after=STUCK_AFTER))
    worker = Worker(client, task_queue="fleetgate", activities=all_activities(hub, client))
    async with worker:
        bridging = asyncio.create_task(bridge.run())
        await bridge.ready()
        placement = HandPlacement(hub, CLUSTER_SCOPE, RUN)
        run = await _prepare(placement)
        handle = client.get_workflow_handle(workflow_id(run, CLUSTER_SCOPE))
        await _staging(placement, handle)
        await _canary(placement, handle)
        await reaches(placement, RUN, "UpdateRunSucceeded", kind="Succeeded")
        await handle.result()
        bridging.cancel()
        return (await handle.fetch_history()).to_json()


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
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else RUN))
