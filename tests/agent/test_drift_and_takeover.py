"""Objects that differ from their manifest: overwritten, taken over, left alone, or reported."""

import pytest

from api.kinds import CONFIG_MAP, WORK
from hub import Json
from tests.agent.support import Member, config_map, details, entry, live
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running


@pytest.mark.parametrize(
    ("comparison", "change", "drift"),
    [
        (
            "PartialComparison",
            {"k": "by hand"},
            {"path": "/data/k", "valueInHub": "v1", "valueInMember": "by hand"},
        ),
        ("FullComparison", {"extra": "mine"}, {"path": "/data/extra", "valueInMember": "mine"}),
    ],
)
@pytest.mark.parametrize("kind", ["ClientSideApply", "ServerSideApply"])
async def test_drift_stops_applying_until_it_is_gone(
    member: Member, unique: str, ns: str, kind: str, comparison: str, change: Json, drift: Json
) -> None:
    strategy = {"type": kind, "comparisonOption": comparison, "whenToApply": "IfNotDrifted"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": change}, namespace=ns)
        work = await member.reported(unique, available=None)
        said = conditions_of(entry(work))["Applied"]
        assert (said["reason"], said["message"]) == (
            "FoundDrifts",
            (
                "Failed to apply the manifest (error: cannot apply manifest: drifts are found "
                "between the manifest and the object from the member cluster)"
            ),
        )
        assert details(work, "drift") == {
            "observedInMemberClusterGeneration": 0,
            "observedDrifts": [drift],
        }
        assert (await member.data("cm", ns) or {}).items() >= change.items()
        undone = {name: {"k": "v1"}.get(name) for name in change}
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": undone}, namespace=ns)
        work = await member.reported(unique)
        assert "driftDetails" not in entry(work)


async def test_a_full_comparison_reports_drift_that_applying_leaves(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        strategy = {"comparisonOption": "FullComparison"}
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        await member.reported(unique)
        by_hand = {"k": "by hand", "extra": "mine"}
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": by_hand}, namespace=ns)

        async def drifted() -> Json | None:
            work = await member.work(unique)
            return work if "driftDetails" in entry(work) else None

        work = await eventually(drifted)
        assert details(work, "drift")["observedDrifts"] == [
            {"path": "/data/extra", "valueInMember": "mine"}
        ]
        assert conditions_of(work["status"])["Applied"]["status"] == "True"
        assert await member.data("cm", ns) == {"k": "v1", "extra": "mine"}


async def test_drift_has_the_times_when_it_began_and_was_last_seen(
    member: Member, unique: str, ns: str
) -> None:
    strategy = {"whenToApply": "IfNotDrifted"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "x"}}, namespace=ns)
        first = entry(await member.reported(unique, available=None))["driftDetails"]

        async def seen_again() -> Json | None:
            await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "y"}}, namespace=ns)
            found: Json = entry(await member.work(unique))["driftDetails"]
            return found if found["observationTime"] > first["observationTime"] else None

        again = await eventually(seen_again)
        assert again["firstDriftedObservedTime"] == first["firstDriftedObservedTime"]
        assert again["observedDrifts"][0]["valueInMember"] == "y"


async def test_the_time_when_drift_began_survives_a_restart_of_the_agent(
    member: Member, unique: str, ns: str
) -> None:
    strategy = {"whenToApply": "IfNotDrifted"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "x"}}, namespace=ns)
        first = entry(await member.reported(unique, available=None))["driftDetails"]
    async with running(member.agent()):
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "y"}}, namespace=ns)

        async def seen_again() -> Json | None:
            found: Json = entry(await member.work(unique))["driftDetails"]
            return found if found["observedDrifts"] != first["observedDrifts"] else None

        again = await eventually(seen_again)
    assert again["firstDriftedObservedTime"] == first["firstDriftedObservedTime"]


@pytest.mark.parametrize("kind", ["ClientSideApply", "ServerSideApply"])
async def test_an_object_that_differs_is_not_taken_over_and_its_differences_are_listed(
    member: Member, unique: str, ns: str, kind: str
) -> None:
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    strategy = {"type": kind, "whenToTakeOver": "IfNoDiff"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        work = await member.reported(unique, available=None)
        said = conditions_of(entry(work))["Applied"]
        assert (said["reason"], said["message"]) == (
            "FailedToTakeOver",
            (
                "Failed to apply the manifest (error: cannot take over object: configuration "
                "differences are found between the manifest object and the corresponding object in "
                "the member cluster)"
            ),
        )
        assert details(work, "diff") == {
            "observedInMemberClusterGeneration": 0,
            "observedDiffs": [{"path": "/data/k", "valueInHub": "v1", "valueInMember": "old"}],
        }
        assert "ownerReferences" not in (await live(member, ns))["metadata"]
        # Once it matches the manifest, it is taken over.
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "v1"}}, namespace=ns)
        work = await member.reported(unique)
        assert "diffDetails" not in entry(work)


async def test_an_object_that_is_not_taken_over_is_created_once_the_old_one_is_gone(
    member: Member, unique: str, ns: str
) -> None:
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy={"whenToTakeOver": "Never"})
        work = await member.reported(unique, available=None)
        assert "diffDetails" not in entry(work)
        await member.cluster.delete(CONFIG_MAP, "cm", namespace=ns)
        await member.reported(unique)
    assert await member.data("cm", ns) == {"k": "v1"}


async def test_an_object_of_a_deleted_work_is_taken_over(
    member: Member, unique: str, ns: str
) -> None:
    """This happens after a member has left and rejoined, because it keeps its objects."""
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    left_behind = await member.own(f"{unique}-orphan")
    theirs = {"ownerReferences": [left_behind]}
    await member.cluster.patch(CONFIG_MAP, "cm", {"metadata": theirs}, namespace=ns)
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"))
        await member.reported(unique)
        owners = (await live(member, ns))["metadata"]["ownerReferences"]
    assert [each["name"] for each in owners] == [unique]


async def test_a_new_version_of_the_manifest_is_not_drift(
    member: Member, unique: str, ns: str
) -> None:
    strategy = {"whenToApply": "IfNotDrifted"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "by hand"}}, namespace=ns)
        await member.reported(unique, available=None)
        await member.put(unique, config_map("cm", ns, k="v2"), strategy=strategy)
        await member.reported(unique)
    assert await member.data("cm", ns) == {"k": "v2"}


@pytest.mark.parametrize(
    ("strategy", "words"),
    [
        (
            {},
            (
                "the object is already owned by some other sources(s) and co-ownership is "
                "disallowed (existingOwnerRefs: [{APIVersion:placement.kubernetes-fleet.io/v1beta1 "
                "Kind:AppliedWork Name:"
            ),
        ),
        (
            {"allowCoOwnership": True},
            "the object is already owned by another Fleet AppliedWork object)",
        ),
    ],
)
async def test_an_object_that_two_works_claim_stays_with_the_first(
    member: Member, unique: str, ns: str, strategy: Json, words: str
) -> None:
    second = f"{unique}-second"
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, key="mine"), strategy=strategy)
        await member.reported(unique)
        await member.put(second, config_map("cm", ns, key="theirs"), strategy=strategy)
        said = conditions_of(entry(await member.reported(second, available=None)))["Applied"]
        assert said["reason"] == "FailedToTakeOver"
        assert said["message"].startswith(
            "Failed to apply the manifest (error: failed to take over a pre-existing object: "
            + words
        )
        assert await member.data("cm", ns) == {"key": "mine"}


async def test_an_object_that_its_first_work_gives_up_is_recreated_for_the_second(
    member: Member, unique: str, ns: str
) -> None:
    second = f"{unique}-second"
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, key="mine"))
        await member.reported(unique)
        await member.put(second, config_map("cm", ns, key="theirs"))
        await member.reported(second, available=None)
        first = (await live(member, ns))["metadata"]["uid"]
        await member.hub.delete(WORK, unique, namespace=member.namespace)

        async def made_anew() -> bool:
            found = await member.cluster.find(CONFIG_MAP, "cm", namespace=ns)
            return found is not None and found["metadata"]["uid"] != first

        await eventually(made_anew)
        await member.reported(second)
    assert await member.data("cm", ns) == {"key": "theirs"}


@pytest.mark.parametrize("shared", [True, False])
async def test_an_object_is_shared_with_other_owners_if_the_strategy_allows_it(
    member: Member, unique: str, ns: str, shared: bool
) -> None:
    other = await member.cluster.create(CONFIG_MAP, config_map("owner", ns))
    uid = other["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": uid}
    foreign = config_map("cm", ns, key="before")
    foreign["metadata"]["ownerReferences"] = [owner]
    await member.cluster.create(CONFIG_MAP, foreign)
    async with running(member.agent()):
        strategy = {"allowCoOwnership": shared}
        await member.put(unique, config_map("cm", ns, key="after"), strategy=strategy)
        await member.reported(unique, available="True" if shared else None)
        owners = [each["name"] for each in (await live(member, ns))["metadata"]["ownerReferences"]]
    assert owners == (["owner", unique] if shared else ["owner"])
    assert await member.data("cm", ns) == {"key": "after" if shared else "before"}
