"""A fenced Temporal client sends nothing for a process that does not lead."""

import pytest
from temporalio.client import Client

from hub import Fenced
from wiring.fencing import fenced
from workflows.plugin import connect


def refuse() -> None:
    raise Fenced("not the leader")


def allow() -> None:
    pass


@pytest.fixture
async def client(temporal_address: str) -> Client:
    return await connect({"TEMPORAL_ADDRESS": temporal_address})


async def test_a_process_that_does_not_lead_starts_signals_and_cancels_nothing(
    client: Client, unique: str
) -> None:
    behind = fenced(client, refuse)
    handle = behind.get_workflow_handle(unique)
    for request in (
        behind.start_workflow("any", id=unique, task_queue=unique),
        behind.start_workflow("any", id=unique, task_queue=unique, start_signal="tell"),
        handle.signal("tell"),
        handle.cancel(),
    ):
        with pytest.raises(Fenced):
            await request


async def test_the_client_of_the_leader_works_as_usual(client: Client, unique: str) -> None:
    behind = fenced(client, allow)
    handle = await behind.start_workflow("any", id=unique, task_queue=unique)
    assert (await client.get_workflow_handle(unique).describe()).id == unique
    await handle.signal("tell")
    await handle.terminate()
    assert behind.config(active_config=True)["data_converter"] is client.data_converter
