"""A short campaign: three runs while worker and Temporal are killed and the network fails.

The long campaign is `make soak`.
"""

import pytest

from tests.soak.campaign import Plan, carry_out
from tests.soak.fleet import Shape
from tests.support.servers import Servers

SHAPE = Shape(simulated=4, real=0, roles={"worker": "engine,bridge,placement"}, own_etcd=False)
PLAN = Plan(
    seed=11,  # its first faults are a killed worker, a killed Temporal, 429s and everything at once
    shape=SHAPE,
    lanes=2,
    runs=3,
    seconds=600,
    targets=["worker", "temporal"],
    pace=2,
)


@pytest.mark.long("a minute and a half of faults")
@pytest.mark.xdist_group("soak")
async def test_runs_succeed_although_processes_and_network_fail(servers: Servers) -> None:
    outcome = await carry_out(PLAN, servers)

    assert outcome.violations == []
    assert outcome.troubles == []
    assert outcome.runs.total() == sum(map(len, PLAN.orders().values()))
    assert outcome.faults["kill -9 worker"] + outcome.faults["kill -9 temporal"]
    assert any(name.startswith("bad network") for name in outcome.faults)
