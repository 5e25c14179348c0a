"""An active run whose workflow is over fails with an explanation, and is not started again."""

import re
from datetime import timedelta

import pytest
from temporalio.client import Client

from api.kinds import Scope
from bridge import presence
from tests.bridge.support import BridgeProcess
from tests.bridge.test_runs import prepare
from tests.support.conditions import says
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, workflow_id

ENDED = re.compile(
    r"cannot continue the updateRun: the run's workflow was ended in Temporal \(terminated at "
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\); nothing was rolled out again; create a new run for the "
    r"snapshot that the clusters should have"
)


async def test_a_run_whose_workflow_was_terminated_is_over(
    bridge: BridgeProcess, placement: HandPlacement, scope: Scope, unique: str, temporal: Client
) -> None:
    cluster = await prepare(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    await placement.create_run(unique, unique, index="0")
    waiting = await reaches(placement, unique, "UpdateRunWaiting")
    await temporal.get_workflow_handle(workflow_id(waiting, scope)).terminate(reason="tidying")

    # When a person approves anyway, the bridge finds no workflow to signal.
    await placement.approve(f"{unique}-before-one")
    over = await reaches(placement, unique, "UpdateRunFailed", kind="Succeeded")
    assert ENDED.fullmatch(says(over, "Succeeded")[2])
    binding = await placement.read_binding(cluster)
    assert binding["spec"]["state"] == "Scheduled"

    # The same holds for a bridge that is started later.
    await bridge.stop()
    await bridge.start()
    await placement.set_state(unique, "Stop")
    again = await placement.read_run(unique)
    assert again["status"] == over["status"]


async def test_each_run_whose_workflow_was_terminated_fails_without_a_further_event(
    bridge: BridgeProcess,
    placement: HandPlacement,
    scope: Scope,
    unique: str,
    temporal: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(presence, "LOOK_EVERY", timedelta(seconds=1))
    await bridge.stop()
    await bridge.start()
    await prepare(placement, unique, beforeStageTasks=[{"type": "Approval"}])
    names = [f"{unique}-{each}" for each in "abc"]
    for name in names:
        await placement.create_run(name, unique, index="0")
    waiting = [await reaches(placement, name, "UpdateRunWaiting") for name in names]
    for run in waiting[1:]:
        await temporal.get_workflow_handle(workflow_id(run, scope)).terminate(reason="tidying")
    for name in names[1:]:
        over = await reaches(placement, name, "UpdateRunFailed", kind="Succeeded")
        assert ENDED.fullmatch(says(over, "Succeeded")[2])
    assert says(await placement.read_run(names[0]), "Progressing")[1] == "UpdateRunWaiting"
