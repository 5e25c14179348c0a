"""Finding runs in Temporal by their search attributes."""

import pytest
from temporalio.client import Client

from api.kinds import Scope
from tests.planning.run_samples import CLUSTER_RUN, NAMESPACED_RUN, facts, ledger
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.workflows.runs import started, workflow_id
from workflows import search_attributes

served = pytest.mark.usefixtures("engine")


def test_search_attributes_at_the_start_describe_the_run() -> None:
    spec = facts().spec
    assert dict(search_attributes.at_start(NAMESPACED_RUN, spec)) == {
        search_attributes.PLACEMENT: "web",
        search_attributes.STRATEGY: "slow",
        search_attributes.SCOPE: "namespaced",
        search_attributes.NAMESPACE: "team",
        search_attributes.STATE: "pending",
        search_attributes.STAGE: "",
    }
    of_cluster = search_attributes.at_start(CLUSTER_RUN, spec)
    assert of_cluster[search_attributes.SCOPE] == "cluster"
    assert of_cluster[search_attributes.NAMESPACE] == ""


def test_only_state_and_stage_change() -> None:
    assert search_attributes.moving(ledger().status) == {
        search_attributes.STATE: "pending",
        search_attributes.STAGE: "prod",
    }


async def find(temporal: Client, query: str) -> list[str]:
    return [found.id async for found in temporal.list_workflows(query)]


@served
async def test_a_run_is_found_by_its_state_and_stage(
    placement: HandPlacement, scope: Scope, temporal: Client, unique: str
) -> None:
    await placement.create({unique: {"env": unique}})
    prod = {"name": "prod", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [prod | {"beforeStageTasks": [{"type": "Approval"}]}])
    run = await placement.create_run(unique, unique, index="0")
    ids = [workflow_id(run, scope)]

    about = f'FleetgatePlacement = "{unique}" and FleetgateStrategy = "{unique}"'
    where = f'FleetgateNamespace = "{placement.namespace}" and FleetgateScope = '
    where += '"namespaced"' if placement.namespace else '"cluster"'
    waits = 'FleetgateState = "waiting" and FleetgateStage = "prod"'
    query = f'{about} and {where} and {waits} and ExecutionStatus = "Running"'
    await eventually(lambda: find(temporal, query), lambda found: found == ids)

    gate = f"{unique}-before-prod"
    await eventually(lambda: placement.find_approval(gate), bool)
    await placement.approve(gate)
    await started(placement, unique)
    query = f'{about} and FleetgateState = "running" and FleetgateStage = "prod"'
    await eventually(lambda: find(temporal, query), lambda found: found == ids)

    await placement.report(unique)
    query = f'{about} and FleetgateState = "succeeded" and FleetgateStage = ""'
    await eventually(lambda: find(temporal, query), lambda found: found == ids)
