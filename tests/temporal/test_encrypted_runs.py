"""A run whose payloads Temporal cannot read, from start to end."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import pytest
from temporalio.api.enums.v1 import EventType
from temporalio.api.history.v1 import HistoryEvent
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer

from api.kinds import Scope
from hub import Hub
from planning.identity import RunRef
from starter.history import in_temporal, of_workflow
from starter.history.entries import What
from starter.history.in_temporal import decrypt, payloads_of
from starter.temporal import OutOfReach
from tests.support.hand_placement import HandPlacement
from tests.temporal.conftest import driving
from tests.temporal.test_encryption import new_key, written
from tests.workflows.runs import reaches, started, workflow_id
from wiring import Settings
from workflows.encryption import VARIABLE, EncryptedError, Keys, data_converter, is_encrypted
from workflows.messages import Approve
from workflows.plugin import connect, fleetgate_plugin

Connect = Callable[[Path | None], Awaitable[Client]]


@pytest.fixture
def connected(temporal_address: str) -> Connect:
    async def client(keys: Path | None) -> Client:
        variables = {VARIABLE: str(keys)} if keys else {}
        return await connect({"TEMPORAL_ADDRESS": temporal_address} | variables)

    return client


async def test_temporal_can_read_nothing_of_an_encrypted_run(
    placement: HandPlacement,
    scope: Scope,
    own_hub: Hub,
    connected: Connect,
    unique: str,
    tmp_path: Path,
) -> None:
    """With the key, a person can approve the run, show its history and replay it."""
    keys = written(tmp_path, f"one: {new_key()}")
    knowing, plain = await connected(keys), await connected(None)
    cluster = f"{unique}-secret"
    await placement.create({cluster: {"env": unique}})
    stage = {"name": "prod", "labelSelector": {"matchLabels": {"env": unique}}}
    await placement.strategy(unique, [stage | {"beforeStageTasks": [{"type": "Approval"}]}])
    async with driving(own_hub, knowing, Settings(task_queue=unique)):
        run = await placement.create_run(unique, unique, index="0")
        await reaches(placement, unique, "UpdateRunWaiting")
        of_run = workflow_id(run, scope)
        with pytest.raises(EncryptedError, match="encrypted with the key one: FLEETGATE_PAYLOAD"):
            await plain.get_workflow_handle(of_run).query("pending_approvals")
        approval = Approve(by="carol")
        await knowing.get_workflow_handle(of_run).execute_update("approve", approval)
        await started(placement, cluster)
        await placement.report(cluster)
        await reaches(placement, unique, "UpdateRunSucceeded", kind="Succeeded")
        await knowing.get_workflow_handle(of_run).result()

    history = await plain.get_workflow_handle(of_run).fetch_history()
    assert [each for each in _in_clear(history.events) if unique in each or "carol" in each] == []
    await _is_told(knowing, plain, placement, run["metadata"]["uid"], scope)
    replayer = Replayer(workflows=[], plugins=[fleetgate_plugin(Keys.read(keys))])
    await replayer.replay_workflow(history)


def _in_clear(events: Sequence[HistoryEvent]) -> list[str]:
    """Return the readable payloads, except search attributes, which are never encrypted."""
    found = [(event, payload) for event in events for payload in payloads_of(event)]
    readable = [(event, each) for event, each in found if not is_encrypted(each)]
    others = [(event, each) for event, each in readable if "type" not in each.metadata]
    assert len(found) > 10 * len(others)
    # Markers of the SDK, for patches of a workflow and for local activities.
    assert {event.event_type for event, _ in others} <= {EventType.EVENT_TYPE_MARKER_RECORDED}
    return [each.data.decode() for _, each in others]


async def _is_told(
    knowing: Client, plain: Client, placement: HandPlacement, uid: str, scope: Scope
) -> None:
    ref = RunRef(scope_name=scope.name, namespace=placement.namespace, name=placement.name, uid=uid)
    events = await in_temporal.history(knowing, ref)
    entries = of_workflow.entries(events, knowing.data_converter.payload_converter)
    assert {each.what for each in entries} >= {What.CLUSTER_DONE, What.SUCCEEDED}
    with pytest.raises(OutOfReach, match="encrypted with the key one"):
        await in_temporal.history(plain, ref)


async def test_error_messages_are_encrypted_too(tmp_path: Path) -> None:
    converter = data_converter(Keys.read(written(tmp_path, f"one: {new_key()}")))
    event = HistoryEvent()
    failure = event.activity_task_failed_event_attributes.failure
    await converter.encode_failure(ApplicationError("cluster-7 is taken", "cluster-7"), failure)
    assert b"cluster-7" not in event.SerializeToString()

    await decrypt([event], converter.payload_codec)
    assert failure.message == "cluster-7 is taken"
