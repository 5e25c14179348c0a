"""The history of a run contains the changes of its status, but never the whole status."""

import json
from typing import Any

import pytest
from temporalio.client import Client

from api.kinds import Scope
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import rolled_out, workflow_id

pytestmark = pytest.mark.usefixtures("engine")


async def test_history_contains_changes_of_the_status_but_not_the_whole_status(
    placement: HandPlacement, scope: Scope, temporal: Client, unique: str
) -> None:
    clusters = [f"{unique}-{number}" for number in range(3)]
    run = await rolled_out(placement, unique, clusters)

    workflow = temporal.get_workflow_handle(workflow_id(run, scope))
    written = [
        operation["path"]
        async for event in workflow.fetch_history_events()
        if (scheduled := event.activity_task_scheduled_event_attributes).activity_type.name
        == "write_status"
        for operation in _argument(scheduled.input)["patch"]
    ]
    assert "/status/stagesStatus/0/clusters/2" in written
    assert "/status" not in written


def _argument(payloads: Any) -> Any:
    return json.loads(payloads.payloads[0].data)
