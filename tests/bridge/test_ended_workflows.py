"""A run whose workflow is over, though the run is not: it says so, and is not begun anew."""

import re

from temporalio.client import Client

from api.kinds import Scope
from tests.bridge.support import BridgeProcess
from tests.bridge.test_runs import prepare
from tests.support.conditions import says
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, workflow_id

ENDED = re.compile(
    r"cannot continue the updateRun: the run's workflow was ended in Temporal \(terminated at "
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\); nothing was rolled out again; make a new run for the "
    r"snapshot that the clusters shall have"
)


async def test_a_run_whose_workflow_was_terminated_is_over(
    bridge: BridgeProcess, placement: HandPlacement, scope: Scope, unique: str, temporal: Client
) -> None:
    cluster = await prepare(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    await placement.create_run(unique, unique, index="0")
    waiting = await reaches(placement, unique, "UpdateRunWaiting")
    await temporal.get_workflow_handle(workflow_id(waiting, scope)).terminate(reason="tidying")

    # A person approves all the same: that is when the bridge finds no workflow to tell.
    await placement.approve(f"{unique}-before-one")
    over = await reaches(placement, unique, "UpdateRunFailed", kind="Succeeded")
    assert ENDED.fullmatch(says(over, "Succeeded")[2])
    binding = await placement.read_binding(cluster)
    assert binding["spec"]["state"] == "Scheduled"

    # Nor is it for a bridge that comes later.
    await bridge.stop()
    await bridge.start()
    await placement.set_state(unique, "Stop")
    again = await placement.read_run(unique)
    assert again["status"] == over["status"]
