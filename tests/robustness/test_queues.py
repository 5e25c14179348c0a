"""Runs that wait for each other, where the worker is killed and Temporal forgets all of them."""

import pytest

from api.kinds import Scope
from hub import Hub
from tests.robustness.worker_processes import NewWorker
from tests.support.hand_placement import HandPlacement
from tests.support.temporal_server import TemporalServer
from tests.workflows.queued_runs import QueuedRuns


@pytest.mark.long("a Temporal server of its own; in virtual time, workers are lost at each step")
async def test_a_queue_keeps_its_order_when_the_worker_and_temporal_are_lost(
    hub: Hub, scope: Scope, unique: str, own_temporal: TemporalServer, new_worker: NewWorker
) -> None:
    namespace = unique if scope.run.namespaced else ""
    runs = QueuedRuns(HandPlacement(hub, scope, unique, namespace))
    worker = new_worker(temporal=own_temporal.address)
    await worker.start()
    await runs.prepare("Queue")
    first = await runs.create(0)
    await runs.begins(0)
    await runs.create(1)
    await runs.says_queued(1, f"waits for run {first}, next in line")
    await runs.create(2)
    await runs.says_queued(2, f"waits for run {first}, 2nd in line")
    worker.kill()
    await own_temporal.lose_everything()
    await new_worker(temporal=own_temporal.address).start()
    for index in range(3):
        await runs.begins(index)
        assert await runs.begun() == [runs.name(index)]
        await runs.finishes(index)
