"""Runs that one build of the worker starts and another one continues."""

import asyncio
import secrets
from contextlib import AsyncExitStack

import pytest
from google.protobuf.field_mask_pb2 import FieldMask
from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflow.v1 import VersioningOverride, WorkflowExecutionOptions
from temporalio.api.workflowservice.v1 import UpdateWorkflowExecutionOptionsRequest
from temporalio.client import Client

from api.kinds import Scope
from hub import Hub, Json
from starter import cli
from starter.operating import setup
from tests.support.eventually import eventually
from tests.support.hand_placement import HandPlacement
from tests.support.temporal import bare_namespace
from tests.temporal.conftest import driving
from tests.workflows.runs import reaches, started, workflow_id
from wiring import Settings, Upgrade


@pytest.fixture(scope="module")
async def namespace(temporal_address: str) -> Client:
    """A namespace of these tests' own: `set-current` affects every run in its namespace."""
    client = await bare_namespace(temporal_address, f"builds-{secrets.token_hex(4)}")
    await setup.register(client)
    return client


@pytest.fixture
def client(namespace: Client, temporal_address: str, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The client for engines and commands of a test."""
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("TEMPORAL_NAMESPACE", namespace.namespace)
    return namespace


async def set_current(deployment: str, build: str, *more: str) -> int:
    typed = ["temporal", "set-current", "--deployment", deployment, "--build-id", build, *more]
    return await asyncio.to_thread(cli.run, typed)


def of_build(unique: str, build: str, *, upgrade: Upgrade = Upgrade.ANY_TIME) -> Settings:
    return Settings(task_queue=unique, deployment=unique, build_id=build, upgrade=upgrade)


async def waiting_before_second(placement: HandPlacement, clusters: list[str]) -> Json:
    """Bring a run with two stages to the gate between them."""
    name = placement.name
    await placement.create({each: {"env": each} for each in clusters})
    stages = [{"name": each, "labelSelector": {"matchLabels": {"env": each}}} for each in clusters]
    gated = stages[1] | {"beforeStageTasks": [{"type": "Approval"}]}
    await placement.strategy(name, [stages[0], gated])
    run = await placement.create_run(name, name, index="0")
    await started(placement, clusters[0])
    await placement.report(clusters[0])
    await reaches(placement, name, "UpdateRunWaiting")
    return run


async def on_to_the_end(placement: HandPlacement, cluster: str) -> None:
    await placement.approve(f"{placement.name}-before-{cluster}")
    await started(placement, cluster)
    await placement.report(cluster)
    await reaches(placement, placement.name, "UpdateRunSucceeded", kind="Succeeded")


async def test_a_run_that_waits_at_a_gate_is_taken_over_by_a_newer_build(
    placement: HandPlacement,
    scope: Scope,
    own_hub: Hub,
    client: Client,
    unique: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The older build may be removed then, which completes an upgrade."""
    clusters = [f"{unique}-{number}" for number in range(2)]
    async with AsyncExitStack() as later:
        async with driving(own_hub, client, of_build(unique, "one")):
            assert await set_current(unique, "one") == 0
            run = await waiting_before_second(placement, clusters)
            await later.enter_async_context(driving(own_hub, client, of_build(unique, "two")))
            capsys.readouterr()
            assert await set_current(unique, "two") == 0
            told = f"build two of {unique} is current; "
            assert capsys.readouterr().out.startswith(told)
            of_run = workflow_id(run, scope)
            await eventually(lambda: builds_of(client, of_run), lambda found: "two" in found)
        await on_to_the_end(placement, clusters[1])
        assert await builds_of(client, of_run) == ["one", "two"]


async def test_a_run_that_upgrades_between_stages_stays_on_its_build_until_it_is_overridden(
    placement: HandPlacement, scope: Scope, own_hub: Hub, client: Client, unique: str
) -> None:
    """Temporal 1.29, which these tests use, never reports that there is a newer build."""
    clusters = [f"{unique}-{number}" for number in range(2)]
    one, two = (of_build(unique, each, upgrade=Upgrade.BETWEEN_STAGES) for each in ("one", "two"))
    async with AsyncExitStack() as later:
        async with driving(own_hub, client, one):
            assert await set_current(unique, "one") == 0
            run = await waiting_before_second(placement, clusters)
            await later.enter_async_context(driving(own_hub, client, two))
            assert await set_current(unique, "two") == 0
            of_run = workflow_id(run, scope)
            # Answering a query runs a workflow task, which comes after any caused by set-current.
            await client.get_workflow_handle(of_run).query("pending_approvals")
            assert await builds_of(client, of_run) == ["one"]
        await override(client, of_run)
        await on_to_the_end(placement, clusters[1])
        assert await builds_of(client, of_run) == ["one", "two"]


async def override(client: Client, of_run: str) -> None:
    """Do as `temporal workflow update-options --versioning-override-behavior auto_upgrade`."""
    await client.workflow_service.update_workflow_execution_options(
        UpdateWorkflowExecutionOptionsRequest(
            namespace=client.namespace,
            workflow_execution=WorkflowExecution(workflow_id=of_run),
            workflow_execution_options=WorkflowExecutionOptions(
                versioning_override=VersioningOverride(auto_upgrade=True)
            ),
            update_mask=FieldMask(paths=["versioning_override"]),
        )
    )


async def builds_of(client: Client, workflow_id: str) -> list[str]:
    """Return the builds that ran a workflow's tasks, in order of their first task."""
    found: dict[str, None] = {}
    async for event in client.get_workflow_handle(workflow_id).fetch_history_events():
        if event.HasField("workflow_task_completed_event_attributes"):
            done = event.workflow_task_completed_event_attributes
            found[done.deployment_version.build_id] = None
    return list(found)


async def test_a_build_without_workers_does_not_become_current(
    client: Client, own_hub: Hub, unique: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await set_current(unique, "none", "--timeout", "1s") == 1
    assert capsys.readouterr().err == (
        f"error: no worker of build none of {unique} polls for tasks in Temporal namespace "
        f"{client.namespace}\n"
        "  are they running, with FLEETGATE_DEPLOYMENT and FLEETGATE_BUILD_ID set? The runs stay "
        "on the build that was current\n"
    )
