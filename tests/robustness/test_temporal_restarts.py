"""Runs continue after the Temporal server has restarted with its stored data."""

import pytest

from tests.robustness.conftest import running_engine
from tests.robustness.rollouts import Rollout, Rollouts
from tests.support.servers import PrivateApiServer
from tests.support.temporal_server import TemporalServer
from workflows.plugin import connect


@pytest.mark.parametrize(
    "graceful",
    [False, pytest.param(True, marks=pytest.mark.long("easier than being killed"))],
)
async def test_runs_survive_a_restart_of_temporal_in_mid_stage_and_at_a_gate(
    pair: Rollouts,
    other_pair: Rollouts,
    server: PrivateApiServer,
    own_temporal: TemporalServer,
    graceful: bool,
) -> None:
    end = own_temporal.stop if graceful else own_temporal.kill
    client = await connect({"TEMPORAL_ADDRESS": own_temporal.address})
    async with running_engine(server.kubeconfig, client):
        await (pair + other_pair).each(lambda each: each.begin(gate=True))
        await pair.each(lambda each: each.written("one"))
        await other_pair.each(Rollout.at_gate)
        await end()
        await pair.each(lambda each: each.update("one"))
        await other_pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await own_temporal.start()
        await pair.each(Rollout.at_gate_asked)
        await pair.each(lambda each: each.approved(f"{each.name}-before-two"))
        await (pair + other_pair).each(Rollout.finish)
