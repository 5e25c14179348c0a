"""An agent reports its member's namespaces if asked to (contract: placement 11, 12)."""

from datetime import timedelta

from agent import AgentSettings
from api.kinds import MEMBER_CLUSTER, NAMESPACE
from hub import Json
from tests.agent.support import Member, namespace
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

COLLECTED = "NamespaceCollectionSucceeded"
EAGER = AgentSettings(collect_namespaces=True, namespaces_pause=timedelta(milliseconds=50))


async def status(member: Member) -> Json:
    found: Json = (await member.hub.get(MEMBER_CLUSTER, member.name)).get("status", {})
    return found


async def test_namespaces_are_reported_as_they_come_and_go(member: Member, unique: str) -> None:
    own, placed = f"{unique}-own", f"{unique}-placed"
    async with running(member.agent(EAGER)):

        async def shows(**wanted: str | None) -> bool:
            listed = (await status(member)).get("namespaces", {})
            return all(listed.get(f"{unique}-{name}") == work for name, work in wanted.items())

        await member.cluster.create(NAMESPACE, {"metadata": {"name": own}})
        await eventually(lambda: shows(own=""))
        await member.put("work", namespace(placed))
        await eventually(lambda: shows(own="", placed="work"))
        assert conditions_of(await status(member))[COLLECTED]["status"] == "True"

        await member.cluster.delete(NAMESPACE, own)
        await eventually(lambda: shows(own=None, placed="work"))


async def test_the_status_says_that_not_all_namespaces_are_listed(member: Member) -> None:
    few = AgentSettings(collect_namespaces=True, namespaces_limit=1)
    async with running(member.agent(few)):

        async def cut() -> Json | None:
            said = await status(member)
            return said if COLLECTED in conditions_of(said) else None

        said = await eventually(cut)
    assert conditions_of(said)[COLLECTED]["reason"] == "Degraded"
    assert len(said["namespaces"]) == 1


async def test_an_agent_that_is_not_asked_removes_namespaces_reported_before(
    member: Member,
) -> None:
    async def told() -> bool:
        return COLLECTED in conditions_of(await status(member))

    async with running(member.agent(EAGER)):
        await eventually(told)

    async def taken_back() -> bool:
        said = await status(member)
        return COLLECTED not in conditions_of(said) and not said.get("namespaces")

    async with running(member.agent()):
        await eventually(taken_back)
