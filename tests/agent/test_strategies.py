"""The apply strategy of a Work determines how its objects are applied to a real member."""

import json

import pytest

from api import names
from api.kinds import CONFIG_MAP, Kind
from hub import Json
from tests.agent.support import Member, config_map, deployment, entry, live
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

CLIENT = {"type": "ClientSideApply"}
SERVER = {"type": "ServerSideApply"}
FORCED = {"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}
DEPLOYMENT = Kind("apps", "v1", "Deployment", "deployments", namespaced=True)


def annotations(body: Json) -> dict[str, str]:
    found: dict[str, str] = body["metadata"].get("annotations", {})
    return found


async def test_a_client_side_apply_records_what_it_applied(
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
async def test_removed_fields_are_deleted_and_those_of_others_stay(
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


async def test_an_object_too_large_for_the_annotation_is_applied_server_side(
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
        # Small again, it is recorded in the annotation, and nothing of the large version stays.
        await member.put(unique, config_map("cm", ns, new="2"))
        await member.reported(unique)
        body = await live(member, ns)
    assert body["data"] == {"new": "2"}
    assert annotations(body)[names.LAST_APPLIED]


async def test_an_agent_continues_where_kubefleets_agent_left_off(
    member: Member, unique: str, ns: str
) -> None:
    applied = config_map("cm", ns, a="1", b="1")
    applied["metadata"]["ownerReferences"] = [await member.own(unique)]
    noted = applied["metadata"] | {"annotations": {names.LAST_APPLIED: json.dumps(applied) + "\n"}}
    there = applied | {"metadata": noted, "data": {"a": "1", "b": "1", "c": "theirs"}}
    await member.cluster.create(CONFIG_MAP, there, manager="work-api-agent")
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, a="2"))
        await member.reported(unique)
    assert await member.data("cm", ns) == {"a": "2", "c": "theirs"}


@pytest.mark.parametrize(("first", "second"), [(CLIENT, SERVER), (SERVER, CLIENT)])
async def test_a_changed_strategy_does_not_lose_track_of_fields(
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
        said = conditions_of(entry(work))["Applied"]
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
