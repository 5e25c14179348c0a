"""An agent applies Works to the member and reports the result in the Work's status."""

from datetime import timedelta

import pytest

from api import names
from api.kinds import APPLIED_WORK, CONFIG_MAP, NAMESPACE, WORK, Kind
from hub import Json
from tests.agent.support import Member, config_map, deployment, namespace
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

PODS = Kind("", "v1", "Pod", "pods", namespaced=True)


async def test_a_work_is_applied_and_reported(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        work = await member.reported(unique)
        assert await member.data("cm", ns) == {"key": "value1"}
        assert _without_times(work["status"]) == {
            "conditions": [
                {
                    "type": "Applied",
                    "status": "True",
                    "observedGeneration": 1,
                    "reason": "AllManifestsApplied",
                    "message": "All the specified manifests have been applied",
                },
                {
                    "type": "Available",
                    "status": "True",
                    "observedGeneration": 1,
                    "reason": "AllManifestsAvailable",
                    "message": "All of the applied manifests are available",
                },
            ],
            "manifestConditions": [
                _fine({"kind": "Namespace", "name": ns, "resource": "namespaces", "ordinal": 0}),
                _fine(
                    {
                        "kind": "ConfigMap",
                        "name": "cm",
                        "namespace": ns,
                        "resource": "configmaps",
                        "ordinal": 1,
                    }
                ),
            ],
        }
        assert names.WORK_FINALIZER in work["metadata"]["finalizers"]


async def test_a_work_is_applied_at_once_when_a_run_asks_for_that(
    member: Member, unique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.progress.recheck_pause", lambda *_, **__: timedelta(hours=1))
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, config_map("cm", ns, key="value1"))
        await member.reported(unique, available=None)
        await member.cluster.apply(NAMESPACE, namespace(ns))
        asked = {"metadata": {"annotations": {names.APPLY_AGAIN: "2026-01-02T03:04:05Z"}}}
        await member.hub.patch(WORK, unique, asked, namespace=member.namespace)
        await member.reported(unique)
        assert await member.data("cm", ns) == {"key": "value1"}


def _fine(identifier: Json) -> Json:
    applied = {
        "type": "Applied",
        "status": "True",
        "reason": "Applied",
        "message": "Manifest has been applied successfully",
    }
    available = {
        "type": "Available",
        "status": "True",
        "reason": "Available",
        "message": "Manifest is available",
    }
    return {"identifier": identifier | {"version": "v1"}, "conditions": [applied, available]}


def _without_times(status: Json) -> Json:
    held = [status, *status["manifestConditions"]]
    for condition in (each for holder in held for each in holder["conditions"]):
        assert condition.pop("lastTransitionTime")
    return status


async def test_applied_objects_belong_to_the_applied_work(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        record = await member.cluster.get(APPLIED_WORK, unique)
        live = await member.cluster.get(CONFIG_MAP, "cm", namespace=ns)
    assert record["spec"] == {"workName": unique, "workNamespace": member.namespace}
    assert [each["name"] for each in record["status"]["appliedResources"]] == [ns, "cm"]
    assert record["status"]["appliedResources"][1]["uid"] == live["metadata"]["uid"]
    assert live["metadata"]["ownerReferences"] == [
        {
            "apiVersion": APPLIED_WORK.api_version,
            "kind": "AppliedWork",
            "name": unique,
            "uid": record["metadata"]["uid"],
            "blockOwnerDeletion": True,
        }
    ]
    assert len(live["metadata"]["annotations"][names.SPEC_HASH]) == 64
    managers = {each["manager"] for each in live["metadata"]["managedFields"]}
    assert managers == {"work-api-agent"}


async def test_a_changed_work_changes_the_member(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1", old="x"))
        await member.reported(unique)
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value2"))
        work = await member.reported(unique)
        assert work["metadata"]["generation"] == 2
        assert await member.data("cm", ns) == {"key": "value2"}


async def test_an_object_that_a_work_no_longer_names_is_removed(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        first, second = config_map("first", ns, a="1"), config_map("second", ns, b="2")
        await member.put(unique, namespace(ns), first, second)
        await member.reported(unique)
        await member.put(unique, namespace(ns), second)
        await member.reported(unique)

        async def recorded() -> list[str]:
            record = await member.cluster.get(APPLIED_WORK, unique)
            return [each["name"] for each in record["status"]["appliedResources"]]

        await eventually(recorded, lambda kept: kept == [ns, "second"])
        await eventually(lambda: member.data("first", ns), lambda found: found is None)
        assert await member.data("second", ns) == {"b": "2"}


async def test_deleting_a_work_deletes_its_objects(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        await member.hub.delete(WORK, unique, namespace=member.namespace)

        async def work_is_gone() -> bool:
            found = await member.hub.find(WORK, unique, namespace=member.namespace)
            if found is not None:
                return False
            # The Work may only go after all its objects on the member; if not, fail at once.
            assert await member.cluster.find(NAMESPACE, ns) is None
            assert await member.cluster.find(APPLIED_WORK, unique) is None
            return True

        await eventually(work_is_gone)


async def test_a_deployment_is_available_once_its_pods_are(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), deployment("app", ns))
        work = await member.reported(unique, available="False")
        said = conditions_of(work["status"]["manifestConditions"][1])["Available"]
        assert said["reason"] == "ManifestNotAvailableYet"
        assert said["observedGeneration"] == 1
        assert conditions_of(work["status"])["Available"]["message"] == (
            "Some manifests are not available (1 of 2 manifests are available)"
        )
        await _pods_become_ready(member, ns)
        await member.reported(unique, available="True")


async def test_the_status_of_an_object_is_reported_back_if_the_work_asks_for_it(
    member: Member, unique: str, ns: str
) -> None:
    mirror = {"type": "Mirror", "destination": "WorkAPI"}
    async with running(member.agent()):
        await member.put(unique, deployment("app", ns), reportBackStrategy=mirror)

        async def mirrored() -> Json:
            (found,) = (await member.work(unique))["status"]["manifestConditions"]
            # A Deployment has no status before its controller has processed it.
            observed: Json = found.get("backReportedStatus", {}).get("observedStatus", {})
            return observed

        await member.reported(unique, available="False")
        observed = await eventually(mirrored)
        assert (observed["apiVersion"], observed["kind"]) == ("apps/v1", "Deployment")
        assert "readyReplicas" not in observed["status"]
        await _pods_become_ready(member, ns)
        await eventually(mirrored, lambda seen: seen["status"].get("readyReplicas") == 1)


async def _pods_become_ready(member: Member, ns: str) -> None:
    """Stand in for the scheduler and the kubelet."""

    async def found() -> Json | None:
        listing = await member.cluster.list(PODS, namespace=ns)
        return listing.items[0] if listing.items else None

    pod = await eventually(found)
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    await member.cluster.patch(
        PODS,
        pod["metadata"]["name"],
        {"status": {"phase": "Running", "conditions": [ready]}},
        namespace=ns,
        subresource="status",
    )


async def test_drift_is_repaired_at_once(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"key": "edited"}}, namespace=ns)
        await eventually(lambda: _holds(member, ns, "value1"))
        await member.cluster.delete(CONFIG_MAP, "cm", namespace=ns)
        await eventually(lambda: _holds(member, ns, "value1"))


async def _holds(member: Member, ns: str, value: str) -> bool:
    return await member.data("cm", ns) == {"key": value}


async def test_nothing_is_written_when_nothing_changed(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="value1"))
        first = await member.reported(unique)
    # A new agent knows nothing and processes everything again.
    async with running(member.agent()):
        await member.put(f"{unique}-2", config_map("cm2", ns, key="value1"))
        await member.reported(f"{unique}-2")
        again = await member.work(unique)
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    assert again["status"] == first["status"]


async def test_an_object_with_other_owners_only_loses_its_owner_reference(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    shared = {"allowCoOwnership": True}
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, a="1"), strategy=shared)
        await member.reported(unique)
        other = await member.cluster.create(CONFIG_MAP, config_map("owner", ns))
        live = await member.cluster.get(CONFIG_MAP, "cm", namespace=ns)
        owner = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "owner",
            "uid": other["metadata"]["uid"],
        }
        owners = [*live["metadata"]["ownerReferences"], owner]
        await member.cluster.patch(
            CONFIG_MAP, "cm", {"metadata": {"ownerReferences": owners}}, namespace=ns
        )
        await member.put(unique, namespace(ns), strategy=shared)

        async def is_disowned() -> bool:
            found = await member.cluster.get(CONFIG_MAP, "cm", namespace=ns)
            return [each["name"] for each in found["metadata"]["ownerReferences"]] == ["owner"]

        await eventually(is_disowned)


async def test_a_namespace_that_is_slow_to_delete_stays_recorded_until_it_is_gone(
    member: Member, unique: str
) -> None:
    kept, slow = f"{unique}-kept", f"{unique}-slow"
    async with running(member.agent()):
        await member.put(unique, namespace(kept), namespace(slow), config_map("cm", slow))
        await member.reported(unique)
        held = {"metadata": {"finalizers": ["example.com/hold"]}}
        await member.cluster.patch(CONFIG_MAP, "cm", held, namespace=slow)
        await member.put(unique, namespace(kept))

        async def recorded() -> list[str]:
            record = await member.cluster.get(APPLIED_WORK, unique)
            return [each["name"] for each in record["status"]["appliedResources"]]

        async def only_deletion_is_under_way() -> bool:
            found = await member.cluster.find(NAMESPACE, slow)
            return bool(found and "deletionTimestamp" in found["metadata"])

        await eventually(only_deletion_is_under_way)
        await member.reported(unique)
        assert slow in await recorded()
        free: Json = {"metadata": {"finalizers": []}}
        await member.cluster.patch(CONFIG_MAP, "cm", free, namespace=slow)

        async def is_forgotten() -> bool:
            return await recorded() == [kept]

        await eventually(is_forgotten)
