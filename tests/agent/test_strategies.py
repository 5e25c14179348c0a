"""How the strategy of a Work says its objects are applied; asserted on a real member."""

import json

import pytest

from api import names
from api.kinds import CONFIG_MAP, NAMESPACE, Kind
from hub import Json
from tests.agent.support import Member, conditions, config_map, deployment, eventually, running

CLIENT = {"type": "ClientSideApply"}
SERVER = {"type": "ServerSideApply"}
FORCED = {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)


@pytest.fixture
async def ns(member: Member, unique: str) -> str:
    """A namespace of the member that no Work has made."""
    name = f"{unique}-ns"
    await member.cluster.create(NAMESPACE, {"metadata": {"name": name}})
    return name


async def live(member: Member, ns: str, name: str = "cm", kind: Kind = CONFIG_MAP) -> Json:
    return await member.cluster.get(kind, name, namespace=ns)


def annotations(body: Json) -> dict[str, str]:
    found: dict[str, str] = body["metadata"].get("annotations", {})
    return found


def entry(work: Json, ordinal: int = 0) -> Json:
    found: Json = work["status"]["manifestConditions"][ordinal]
    return found


async def test_a_client_side_apply_notes_what_it_applied(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, key="1"))
        await member.reported(unique)
        body = await live(member, ns)
    assert len(annotations(body)[names.SPEC_HASH]) == 64
    noted = json.loads(annotations(body)[names.LAST_APPLIED])
    assert noted["data"] == {"key": "1"}
    assert noted["metadata"]["ownerReferences"] == body["metadata"]["ownerReferences"]
    writers = {(each["manager"], each["operation"]) for each in body["metadata"]["managedFields"]}
    assert writers == {("work-api-agent", "Update")}


@pytest.mark.parametrize("strategy", [CLIENT, SERVER, FORCED])
async def test_removed_fields_go_and_those_of_others_stay(
    member: Member, unique: str, ns: str, strategy: Json
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, a="1", b="1"), strategy=strategy)
        await member.reported(unique)
        theirs = {"data": {"c": "theirs"}, "metadata": {"labels": {"team": "theirs"}}}
        await member.cluster.patch(CONFIG_MAP, "cm", theirs, namespace=ns)
        await member.put(unique, config_map("cm", ns, a="2"), strategy=strategy)
        await member.reported(unique)
        body = await live(member, ns)
    assert body["data"] == {"a": "2", "c": "theirs"}
    assert body["metadata"]["labels"] == {"team": "theirs"}


async def test_an_injected_container_survives_a_new_version(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, deployment("app", ns, replicas=0))
        await member.reported(unique)
        body = await live(member, ns, "app", DEPLOYMENT)
        (own,) = body["spec"]["template"]["spec"]["containers"]
        sidecar = {"name": "sidecar", "image": "example.com/sidecar"}
        containers = {"template": {"spec": {"containers": [sidecar, own]}}}
        await member.cluster.patch(DEPLOYMENT, "app", {"spec": containers}, namespace=ns)
        await member.put(unique, deployment("app", ns, replicas=0, tag="2"))

        async def images() -> bool:
            body = await live(member, ns, "app", DEPLOYMENT)
            found = body["spec"]["template"]["spec"]["containers"]
            return [each["image"] for each in found] == [
                "example.com/sidecar",
                "example.com/app:2",
            ]

        await eventually(images)


async def test_what_is_too_large_to_note_is_applied_by_the_server(
    member: Member, unique: str, ns: str
) -> None:
    large = "x" * 300 * 1024
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, large=large, old="1"))
        await member.reported(unique)
        body = await live(member, ns)
        assert annotations(body)[names.LAST_APPLIED] == ""
        assert {each["operation"] for each in body["metadata"]["managedFields"]} == {"Apply"}
        await member.put(unique, config_map("cm", ns, large=large, new="1"))
        await member.reported(unique)
        assert (await live(member, ns))["data"].keys() == {"large", "new"}
        # Small again, it is noted again, and nothing of the large version stays.
        await member.put(unique, config_map("cm", ns, new="2"))
        await member.reported(unique)
        body = await live(member, ns)
    assert body["data"] == {"new": "2"}
    assert annotations(body)[names.LAST_APPLIED]


@pytest.mark.parametrize(("first", "second"), [(CLIENT, SERVER), (SERVER, CLIENT)])
async def test_a_changed_strategy_loses_track_of_nothing(
    member: Member, unique: str, ns: str, first: Json, second: Json
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, a="1", b="1"), strategy=first)
        await member.reported(unique)
        await member.put(unique, config_map("cm", ns, a="2", c="2"), strategy=second)
        await member.reported(unique)
        assert await member.data("cm", ns) == {"a": "2", "c": "2"}
        await member.put(unique, config_map("cm", ns, c="3"), strategy=second)
        await member.reported(unique)
        assert await member.data("cm", ns) == {"c": "3"}
        body = await live(member, ns)
    assert (names.LAST_APPLIED in annotations(body)) is (second is CLIENT)


async def test_a_conflict_with_another_manager_is_reported(
    member: Member, unique: str, ns: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="1"), strategy=SERVER)
        await member.reported(unique)
        await member.cluster.patch(
            CONFIG_MAP, "cm", {"data": {"k": "mine"}}, namespace=ns, manager="other"
        )
        work = await member.reported(unique, available=None)
        said = conditions(entry(work))["Applied"]
        assert said["reason"] == "ManifestApplyFailed"
        assert said["message"] == (
            "Failed to apply the manifest (error: failed to apply the manifest: failed to apply "
            "the manifest object: an error is returned by the API server: Apply failed with 1 "
            'conflict: conflict with "other" using v1: .data.k)'
        )
        assert await member.data("cm", ns) == {"k": "mine"}
        await member.put(unique, config_map("cm", ns, k="1"), strategy=FORCED)
        await member.reported(unique)
        assert await member.data("cm", ns) == {"k": "1"}


def details(work: Json, kind: str, ordinal: int = 0) -> Json:
    """The drifts or diffs of a manifest, without times, which must be there."""
    found = dict(entry(work, ordinal)[f"{kind}Details"])
    first = {"drift": "firstDriftedObservedTime", "diff": "firstDiffedObservedTime"}[kind]
    assert found.pop(first) <= found.pop("observationTime")
    return found


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
        said = conditions(entry(work))["Applied"]
        assert (said["reason"], said["message"]) == (
            "FoundDrifts",
            (
                "Failed to apply the manifest (error: cannot apply manifest: drifts are found between "
                "the manifest and the object from the member cluster)"
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


async def test_a_full_comparison_tells_of_drift_that_applying_leaves(
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
        assert conditions(work["status"])["Applied"]["status"] == "True"
        assert await member.data("cm", ns) == {"k": "v1", "extra": "mine"}


async def test_the_times_of_drift_say_when_it_began_and_when_it_was_last_seen(
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


@pytest.mark.parametrize("kind", ["ClientSideApply", "ServerSideApply"])
async def test_an_object_that_differs_is_not_taken_over_and_its_differences_are_listed(
    member: Member, unique: str, ns: str, kind: str
) -> None:
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    strategy = {"type": kind, "whenToTakeOver": "IfNoDiff"}
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"), strategy=strategy)
        work = await member.reported(unique, available=None)
        said = conditions(entry(work))["Applied"]
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
        # As soon as somebody makes it equal it is taken over.
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"k": "v1"}}, namespace=ns)
        work = await member.reported(unique)
        assert "diffDetails" not in entry(work)


async def test_an_object_that_is_not_taken_over_is_made_anew_once_it_is_gone(
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


async def test_an_object_of_a_work_that_is_gone_is_taken_over(
    member: Member, unique: str, ns: str
) -> None:
    """As after a member has left and rejoined: it keeps what it had."""
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, k="old"))
    left_behind = await member.orphan(f"{unique}-orphan")
    theirs = {"ownerReferences": [left_behind]}
    await member.cluster.patch(CONFIG_MAP, "cm", {"metadata": theirs}, namespace=ns)
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, k="v1"))
        await member.reported(unique)
        owners = (await live(member, ns))["metadata"]["ownerReferences"]
    assert [each["name"] for each in owners] == [unique]
