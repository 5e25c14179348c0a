"""With the shipped rights, each role may hold its own Lease, and no other."""

import asyncio

import pytest

from api.kinds import LEASE
from hub import Election, Forbidden, Hub, Json, Standing, Term
from tests.support.eventually import patience

HOME = "fleetgate"


async def until_cancelled(_: Term) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize(("part", "other"), [("bridge", "placement"), ("placement", "bridge")])
async def test_a_role_can_lead_but_not_touch_other_leases(
    part: str, other: str, clients: dict[str, Hub], admin: Hub
) -> None:
    standings: asyncio.Queue[Standing] = asyncio.Queue()
    election = Election(
        clients[part],
        name=f"fleetgate-{part}",
        namespace=HOME,
        identity=part,
        on_change=standings.put_nowait,
    )
    leading = asyncio.create_task(election.run(until_cancelled))
    async with asyncio.timeout(patience()):
        assert await standings.get() == Standing(leads=True, leader=part)
    leading.cancel()
    await asyncio.gather(leading, return_exceptions=True)
    left = await admin.get(LEASE, f"fleetgate-{part}", namespace=HOME)
    assert left["spec"]["holderIdentity"] == ""

    theirs, own = f"fleetgate-{other}", f"fleetgate-{part}"
    with pytest.raises(Forbidden):
        await clients[part].replace(LEASE, lease_of(theirs))
    with pytest.raises(Forbidden):
        await clients[part].delete(LEASE, own, namespace=HOME)
    with pytest.raises(Forbidden):
        await clients[part].create(LEASE, lease_of(own) | {"metadata": named(own, "default")})
    with pytest.raises(Forbidden):
        await clients["engine"].replace(LEASE, lease_of(own))


def lease_of(name: str) -> Json:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": named(name, HOME)}


def named(name: str, namespace: str) -> Json:
    return {"name": name, "namespace": namespace}
