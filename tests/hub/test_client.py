"""Requests of the client to a real API server, and how it handles the answers."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from api.kinds import CONFIG_MAP, NAMESPACE
from hub import AlreadyExists, Conflict, Hub, HubError, Invalid, Json, NotFound
from tests.support.eventually import patience

HERE = "default"


def config_map(name: str, **data: Any) -> Json:
    return {"metadata": {"name": name, "namespace": HERE}, "data": data}


async def data(hub: Hub, name: str) -> Any:
    return (await hub.get(CONFIG_MAP, name, namespace=HERE)).get("data")


async def test_an_object_is_created_read_replaced_and_deleted(hub: Hub, unique: str) -> None:
    created = await hub.create(CONFIG_MAP, config_map(unique, color="red"))
    created["data"]["color"] = "blue"
    replaced = await hub.replace(CONFIG_MAP, created)

    assert replaced["metadata"]["resourceVersion"] != created["metadata"]["resourceVersion"]
    assert await data(hub, unique) == {"color": "blue"}
    await hub.delete(CONFIG_MAP, unique, namespace=HERE)
    assert await hub.find(CONFIG_MAP, unique, namespace=HERE) is None


async def test_missing_objects_are_not_found(hub: Hub, unique: str) -> None:
    with pytest.raises(NotFound, match=unique):
        await hub.get(CONFIG_MAP, unique, namespace=HERE)
    with pytest.raises(NotFound, match=unique):
        await hub.delete(CONFIG_MAP, unique, namespace=HERE)


async def test_a_name_can_be_used_only_once(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, config_map(unique))

    with pytest.raises(AlreadyExists, match=unique):
        await hub.create(CONFIG_MAP, config_map(unique))


async def test_a_stale_version_is_a_conflict(hub: Hub, unique: str) -> None:
    stale = await hub.create(CONFIG_MAP, config_map(unique, color="red"))
    await hub.patch(CONFIG_MAP, unique, {"data": {"color": "blue"}}, namespace=HERE)

    with pytest.raises(Conflict):
        await hub.replace(CONFIG_MAP, stale)
    assert await data(hub, unique) == {"color": "blue"}


async def test_apply_creates_an_object_and_owns_the_fields_it_names(hub: Hub, unique: str) -> None:
    created = await hub.apply(CONFIG_MAP, config_map(unique, color="red", size="s"))
    await hub.apply(CONFIG_MAP, config_map(unique, color="blue"))

    assert created["metadata"]["uid"]
    assert await data(hub, unique) == {"color": "blue"}


async def test_each_manager_keeps_its_own_fields(hub: Hub, unique: str) -> None:
    await hub.apply(CONFIG_MAP, config_map(unique, color="red"), manager="one")
    await hub.apply(CONFIG_MAP, config_map(unique, size="s"), manager="two")

    assert await data(hub, unique) == {"color": "red", "size": "s"}


async def test_another_managers_field_is_taken_only_by_force(hub: Hub, unique: str) -> None:
    await hub.apply(CONFIG_MAP, config_map(unique, color="red"), manager="one")
    with pytest.raises(Conflict) as refused:
        await hub.apply(CONFIG_MAP, config_map(unique, color="blue"), manager="two", force=False)
    assert [cause.field for cause in refused.value.details.causes] == [".data.color"]

    await hub.apply(CONFIG_MAP, config_map(unique, color="blue"), manager="two")
    assert await data(hub, unique) == {"color": "blue"}


async def test_a_dry_run_is_validated_but_not_stored(hub: Hub, unique: str) -> None:
    answer = await hub.apply(CONFIG_MAP, config_map(unique, color="red"), dry_run=True)

    assert answer["data"] == {"color": "red"}
    assert await hub.find(CONFIG_MAP, unique, namespace=HERE) is None
    with pytest.raises(Invalid):
        await hub.create(CONFIG_MAP, config_map("Not A Name"), dry_run=True)


async def test_a_merge_patch_changes_and_removes_fields(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, config_map(unique, color="red", size="s"))
    patch = {"data": {"color": "blue", "size": None}}
    await hub.patch(CONFIG_MAP, unique, patch, namespace=HERE)

    assert await data(hub, unique) == {"color": "blue"}


async def test_a_json_patch_applies_only_if_its_test_passes(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, config_map(unique, color="red"))
    paint = {"op": "replace", "path": "/data/color", "value": "blue"}
    expected = {"op": "test", "path": "/data/color", "value": "red"}
    await hub.patch(CONFIG_MAP, unique, [expected, paint], namespace=HERE)
    assert await data(hub, unique) == {"color": "blue"}

    with pytest.raises(Conflict, match=f"'{unique}' does not match what the patch expects"):
        await hub.patch(CONFIG_MAP, unique, [expected, paint], namespace=HERE)


async def test_a_patch_can_return_only_metadata(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, config_map(unique, color="red"))
    patch = {"data": {"color": "blue"}}
    answer = await hub.patch(CONFIG_MAP, unique, patch, namespace=HERE, metadata_only=True)
    found = await hub.get(CONFIG_MAP, unique, namespace=HERE)
    assert found["data"] == {"color": "blue"}
    assert answer["metadata"]["resourceVersion"] == found["metadata"]["resourceVersion"]
    assert "data" not in answer


async def test_a_json_patch_to_something_invalid_is_invalid(hub: Hub, unique: str) -> None:
    await hub.create(CONFIG_MAP, config_map(unique, color="red"))
    spoil = [{"op": "add", "path": "/data/not a key", "value": "x"}]

    with pytest.raises(Invalid) as refused:
        await hub.patch(CONFIG_MAP, unique, spoil, namespace=HERE)
    assert [cause.field for cause in refused.value.details.causes] == ["data[not a key]"]


async def test_an_invalid_object_names_its_fields(hub: Hub) -> None:
    with pytest.raises(Invalid) as refused:
        await hub.create(CONFIG_MAP, config_map("UPPER", **{"a b": "x"}))

    fields = [cause.field for cause in refused.value.details.causes]
    assert sorted(fields) == ["data[a b]", "metadata.name"]


async def test_a_field_of_the_wrong_type_is_invalid_not_unavailable(hub: Hub, unique: str) -> None:
    with pytest.raises(Invalid, match=r"\.data\.count"):
        await hub.apply(CONFIG_MAP, config_map(unique, count=4))


async def test_only_the_object_with_the_given_uid_is_deleted(hub: Hub, unique: str) -> None:
    created = await hub.create(CONFIG_MAP, config_map(unique))
    with pytest.raises(Conflict):
        await hub.delete(CONFIG_MAP, unique, namespace=HERE, uid="another")
    await hub.delete(
        CONFIG_MAP,
        unique,
        namespace=HERE,
        uid=created["metadata"]["uid"],
        propagation="Background",
    )

    assert await hub.find(CONFIG_MAP, unique, namespace=HERE) is None


async def test_all_objects_with_a_label_are_deleted_and_no_others(hub: Hub, unique: str) -> None:
    for number in range(3):
        body = config_map(f"{unique}-{number}")
        body["metadata"]["labels"] = {"test": unique, "odd": str(number % 2)}
        await hub.create(CONFIG_MAP, body)
    await hub.delete_all(CONFIG_MAP, namespace=HERE, labels=f"test={unique},odd=0")
    left = await hub.list(CONFIG_MAP, labels=f"test={unique}")

    assert [item["metadata"]["name"] for item in left.items] == [f"{unique}-1"]


async def test_a_status_is_written_separately(hub: Hub, unique: str) -> None:
    await hub.create(NAMESPACE, {"metadata": {"name": unique}})
    condition = {"type": "Tested", "status": "True", "reason": "Test", "message": "yes"}
    body = {"metadata": {"name": unique}, "status": {"conditions": [condition]}}
    await hub.apply(NAMESPACE, body, subresource="status")
    stored = await hub.get(NAMESPACE, unique)

    assert stored["status"]["conditions"][0]["type"] == "Tested"
    await hub.delete(NAMESPACE, unique)


@pytest.mark.parametrize("name", ["", "a/../b"])
async def test_a_name_cannot_lead_to_another_path(hub: Hub, name: str) -> None:
    with pytest.raises((ValueError, HubError)):
        await hub.get(CONFIG_MAP, name, namespace=HERE)


async def test_a_namespaced_object_needs_a_namespace(hub: Hub, unique: str) -> None:
    with pytest.raises(ValueError, match="needs a namespace"):
        await hub.get(CONFIG_MAP, unique)
    with pytest.raises(ValueError, match="needs a namespace"):
        await hub.create(CONFIG_MAP, {"metadata": {"name": unique}})
    with pytest.raises(ValueError, match="needs a namespace"):
        await hub.delete_all(CONFIG_MAP, labels="a=b")


async def test_a_watch_reports_changes_after_a_version(hub: Hub, unique: str) -> None:
    created = await hub.create(CONFIG_MAP, config_map(unique))
    await hub.patch(CONFIG_MAP, unique, {"data": {"color": "red"}}, namespace=HERE)
    await hub.delete(CONFIG_MAP, unique, namespace=HERE)
    stream = hub.watch(
        CONFIG_MAP,
        resource_version=created["metadata"]["resourceVersion"],
        namespace=HERE,
        fields=f"metadata.name={unique}",
    )
    async with aclosing(stream) as events, asyncio.timeout(patience()):
        seen = [await anext(events), await anext(events)]

    assert [event.type for event in seen] == ["MODIFIED", "DELETED"]


@pytest.mark.alone("counts the requests of the shared client")
async def test_requests_are_counted_by_verb_and_resource(hub: Hub, unique: str) -> None:
    before = hub.requests.copy()
    await hub.apply(CONFIG_MAP, config_map(unique))
    await hub.find(CONFIG_MAP, unique, namespace=HERE)
    await hub.find(CONFIG_MAP, "none", namespace=HERE)

    spent = hub.requests - before
    assert spent == {("apply", "configmaps"): 1, ("get", "configmaps"): 2}


async def test_the_server_reports_its_version(hub: Hub) -> None:
    assert (await hub.version()).startswith("v1.")
