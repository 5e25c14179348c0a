"""Sizes at their limit: what is just allowed works end to end, more is refused with a reason."""

import json

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.client import Client

from hub import Json
from planning.runs import sizes
from tests.inputs.waiting_runs import home, waiting_run
from tests.inputs.workflow_tasks import failed_steps
from tests.support.conditions import condition, condition_of, says
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import reaches, started, workflow_id

pytestmark = pytest.mark.usefixtures("engine", "no_tracebacks")

LONGEST_WAIT = "2562047h"
"""292 years, the longest duration in Go."""


def long(name: str, characters: int) -> str:
    return f"{name}-".ljust(characters - 1, "x") + "9"


async def test_a_run_with_the_longest_possible_names_succeeds(
    placement: HandPlacement, unique: str, temporal: Client
) -> None:
    placement.name, run, strategy = long(unique, 63), long(f"{unique}-r", 63), long(unique, 253)
    cluster = long(f"{unique}-c", 63)
    label = ".".join([*["p" * 63] * 3, "p" * 61]) + "/" + "k" * 63
    await placement.create({cluster: {label: "v" * 63}})
    names = [long(f"s{number}", 63) for number in range(31)]
    stages: list[Json] = [{"name": name} for name in names]
    stages[-1] |= {
        "labelSelector": {"matchLabels": {label: "v" * 63}},
        "beforeStageTasks": [{"type": "Approval"}],
    }
    await placement.strategy(strategy, stages)
    written = await placement.create_run(run, strategy, index="0")

    request = f"{run}-before-{names[-1]}"
    await eventually(lambda: placement.find_approval(request))
    await placement.approve(request)
    await started(placement, cluster)
    await placement.report(cluster)
    ended = await reaches(placement, run, "UpdateRunSucceeded", kind="Succeeded")
    assert [each["stageName"] for each in ended["status"]["stagesStatus"]] == names
    assert await failed_steps(temporal, workflow_id(written, placement.scope)) == []


async def test_a_placement_with_a_name_too_long_for_a_label_is_refused(
    placement: HandPlacement, unique: str
) -> None:
    placement.name = long(unique, 64)
    await home(placement)
    await placement.place()
    await placement.strategy(unique, [{"name": "one"}])
    await placement.create_run(unique, unique)
    run = await reaches(placement, unique, "UpdateRunInitializedFailed", kind="Initialized")
    assert "has 64 characters" in says(run, "Initialized")[2]


@pytest.mark.parametrize("name", ["", "..", "a/b", "x" * 254, "x" * 30_000, "\u2028"])
async def test_a_strategy_with_an_impossible_name_is_not_found(
    placement: HandPlacement, unique: str, name: str
) -> None:
    await placement.create({f"{unique}-a": {}})
    await placement.create_run(unique, name, index="0")
    run = await reaches(placement, unique, "UpdateRunInitializedFailed", kind="Initialized")
    assert "referenced updateStrategy not found: `" in says(run, "Initialized")[2]


async def test_the_longest_wait_is_waited_for(
    placement: HandPlacement, unique: str, temporal: Client
) -> None:
    cluster = f"{unique}-a"
    await placement.create({cluster: {"env": unique}})
    stage = {
        "name": "one",
        "labelSelector": {"matchLabels": {"env": unique}},
        "afterStageTasks": [{"type": "TimedWait", "waitTime": LONGEST_WAIT}],
    }
    await placement.strategy(unique, [stage])
    written = await placement.create_run(unique, unique, index="0")
    await started(placement, cluster)
    await placement.report(cluster)
    await reaches(placement, unique, "UpdateRunWaiting")

    workflow = temporal.get_workflow_handle(workflow_id(written, placement.scope))
    # Answered in a later workflow task than the one that started the timer: a timer that ends at
    # once would have fired by then.
    await workflow.execute_update("resume")
    events = [event.event_type async for event in workflow.fetch_history_events()]
    assert EventType.EVENT_TYPE_TIMER_STARTED in events
    assert not condition_of(await placement.read_run(unique), "Succeeded")
    assert await failed_steps(temporal, workflow.id) == []


@pytest.mark.filterwarnings("ignore:Sending a large body:ResourceWarning")
async def test_the_largest_status_is_accepted_together_with_the_message_of_a_failure(
    placement: HandPlacement, unique: str
) -> None:
    await home(placement)
    await placement.create_run(unique, unique, state="Initialize")
    await reaches(placement, unique, "UpdateRunInitializedFailed", kind="Initialized")
    failed = [condition("Succeeded", "False", message="x" * 32768)]
    stage = {"stageName": "one", "clusters": [], "conditions": failed}
    status = {"conditions": failed, "stagesStatus": [stage]}
    entry = {"clusterName": "c" * 63, "conditions": [condition("Started")]}
    number = sizes.MOST_STATUS // (len(json.dumps(entry, separators=(",", ":"))) + 1)
    stage["clusters"] = [entry] * number
    await placement.hub.patch(
        placement.scope.run,
        unique,
        {"status": status},
        namespace=placement.namespace,
        subresource="status",
    )
    assert len(json.dumps(await placement.read_run(unique))) > sizes.MOST_STATUS


async def test_an_approval_with_the_longest_message_passes_the_gate(
    placement: HandPlacement, unique: str
) -> None:
    await waiting_run(placement, unique)
    request = f"{unique}-before-one"
    given = condition("Approved", reason="R" * 1024, message="ä" * 32768)
    await placement.hub.patch(
        placement.scope.approval,
        request,
        {"status": {"conditions": [given]}},
        namespace=placement.namespace,
        subresource="status",
    )
    await started(placement, f"{unique}-a")
