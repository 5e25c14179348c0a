"""Manifests that cannot be applied: each says why, the others go on."""

import pytest

from api.kinds import APPLIED_WORK, CONFIG_MAP, NAMESPACE, WORK, Kind
from hub import Json
from tests.agent.support import Member, conditions, config_map, eventually, namespace, running

PRIORITY_CLASS = Kind(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)


def applied(work: Json, ordinal: int) -> Json:
    """The Applied condition of one manifest."""
    entry = work["status"]["manifestConditions"][ordinal]
    assert entry["identifier"]["ordinal"] == ordinal
    return conditions(entry)["Applied"]


def priority_class(name: str, value: int) -> Json:
    return {
        "apiVersion": PRIORITY_CLASS.api_version,
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


async def test_a_refused_change_is_reported_with_the_servers_words(
    member: Member, unique: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, priority_class(unique, 1))
        await member.reported(unique)
        await member.put(unique, priority_class(unique, 2))
        work = await member.reported(unique, available=None)
    assert conditions(work["status"])["Applied"]["message"] == (
        "Failed to apply all manifests (0 of 1 manifests are applied)"
    )
    said = applied(work, 0)
    assert (said["reason"], said["observedGeneration"]) == ("ManifestApplyFailed", 1)
    assert said["message"] == (
        "Failed to apply the manifest (error: failed to apply the manifest: failed to patch the "
        "manifest object: error returned by the API server: PriorityClass.scheduling.k8s.io "
        f'"{unique}" is invalid: value: Forbidden: may not be changed in an update.)'
    )


async def test_a_missing_namespace_fails_one_manifest_until_it_exists(
    member: Member, unique: str
) -> None:
    there, missing = f"{unique}-there", f"{unique}-missing"
    async with running(member.agent()):
        await member.put(
            unique, namespace(there), config_map("a", there), config_map("b", missing, key="x")
        )
        work = await member.reported(unique, available=None)
        assert applied(work, 1)["status"] == "True"
        said = applied(work, 2)
        assert said["reason"] == "ManifestApplyFailed"
        assert f'namespaces "{missing}" not found' in said["message"]
        await member.put(f"{unique}-2", namespace(missing))
        await member.reported(unique)
        assert await member.data("b", missing) == {"key": "x"}


async def test_a_kind_that_the_member_does_not_serve_fails_alone(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    stranger = {"apiVersion": "example.com/v1", "kind": "Stranger", "metadata": {"name": "x"}}
    async with running(member.agent()):
        await member.put(unique, stranger, namespace(ns))
        work = await member.reported(unique, available=None)
    assert work["status"]["manifestConditions"][0]["identifier"] == {
        "ordinal": 0,
        "group": "example.com",
        "version": "v1",
        "kind": "Stranger",
        "name": "x",
    }
    assert applied(work, 0)["reason"] == "DecodingErred"
    assert (
        'no matches for kind "Stranger" in version "example.com/v1"'
        in (applied(work, 0)["message"])
    )
    assert applied(work, 1)["status"] == "True"


async def test_a_custom_resource_comes_with_its_definition(member: Member, unique: str) -> None:
    group = f"{unique}.example.com"
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "one"}}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "names": {"kind": "Thing", "plural": "things", "singular": "thing"},
            "scope": "Cluster",
            "versions": [version],
        },
    }
    async with running(member.agent()):
        await member.put(unique, thing, definition)
        work = await member.reported(unique)
    said = conditions(work["status"])["Available"]
    assert said["reason"] == "WorkNotTrackable"
    assert work["status"]["manifestConditions"][0]["identifier"]["resource"] == "things"


async def test_the_same_object_twice_is_refused_the_second_time(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), namespace(ns))
        work = await member.reported(unique, available=None)
    assert applied(work, 0)["status"] == "True"
    assert applied(work, 1)["reason"] == "Duplicated"


async def test_an_object_with_only_a_generated_name_is_refused(member: Member, unique: str) -> None:
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"generateName": "x-"}}
    async with running(member.agent()):
        await member.put(unique, manifest)
        work = await member.reported(unique, available=None)
    assert applied(work, 0)["reason"] == "FoundGenerateName"


async def test_an_object_of_another_work_is_left_alone(member: Member, unique: str) -> None:
    ns, other = f"{unique}-ns", f"{unique}-other"
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="mine"))
        await member.reported(unique)
        await member.put(other, config_map("cm", ns, key="theirs"))
        work = await member.reported(other, available=None)
        assert applied(work, 0)["reason"] == "FailedToTakeOver"
        assert "already owned by some other sources(s)" in applied(work, 0)["message"]
        assert await member.data("cm", ns) == {"key": "mine"}


@pytest.mark.parametrize(
    ("when", "reason"), [("Never", "NotTakenOver"), ("IfNoDiff", "FailedToTakeOver")]
)
async def test_a_foreign_object_is_left_alone_if_the_strategy_says_so(
    member: Member, unique: str, when: str, reason: str
) -> None:
    ns = f"{unique}-ns"
    await member.cluster.apply(NAMESPACE, namespace(ns))
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, key="before"))
    async with running(member.agent()):
        await member.put(
            unique, config_map("cm", ns, key="after"), strategy={"whenToTakeOver": when}
        )
        work = await member.reported(unique, available=None)
    assert applied(work, 0)["reason"] == reason
    assert await member.data("cm", ns) == {"key": "before"}


async def test_an_equal_foreign_object_is_taken_over_if_no_diff(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    await member.cluster.apply(NAMESPACE, namespace(ns))
    await member.cluster.create(CONFIG_MAP, config_map("cm", ns, key="same"))
    async with running(member.agent()):
        await member.put(
            unique, config_map("cm", ns, key="same"), strategy={"whenToTakeOver": "IfNoDiff"}
        )
        await member.reported(unique)


async def test_drift_stops_applying_if_the_strategy_says_so(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    strategy = {"whenToApply": "IfNotDrifted"}
    async with running(member.agent()):
        await member.put(unique, namespace(ns), config_map("cm", ns, key="1"), strategy=strategy)
        await member.reported(unique)
        await member.cluster.patch(CONFIG_MAP, "cm", {"data": {"key": "2"}}, namespace=ns)
        work = await member.reported(unique, available=None)
        assert applied(work, 1)["reason"] == "FoundDrifts"
        assert await member.data("cm", ns) == {"key": "2"}
        # A new version of the manifest is no drift.
        await member.put(unique, namespace(ns), config_map("cm", ns, key="3"), strategy=strategy)
        await member.reported(unique)
        assert await member.data("cm", ns) == {"key": "3"}


async def test_report_diff_touches_nothing(member: Member, unique: str) -> None:
    async with running(member.agent()):
        await member.put(unique, namespace(f"{unique}-ns"), strategy={"type": "ReportDiff"})

        async def reported() -> Json | None:
            status = (await member.work(unique)).get("status", {})
            return conditions(status).get("DiffReported")

        said = await eventually(reported)
        assert (said["status"], said["reason"]) == ("False", "SomeManifestsHaveNotReportedDiff")
        assert await member.cluster.find(NAMESPACE, f"{unique}-ns") is None
        assert await member.cluster.find(APPLIED_WORK, unique) is None


async def test_a_namesake_of_another_fleet_is_left_alone(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    spec = {"workName": unique, "workNamespace": "fleet-member-elsewhere"}
    await member.cluster.create(APPLIED_WORK, {"metadata": {"name": unique}, "spec": spec})
    async with running(member.agent()):
        await member.put(unique, namespace(ns))
        work = await member.reported(unique, available=None)
        assert "another fleet uses this cluster" in applied(work, 0)["message"]
        await member.hub.delete(WORK, unique, namespace=member.namespace)

        async def work_is_gone() -> bool:
            return await member.hub.find(WORK, unique, namespace=member.namespace) is None

        await eventually(work_is_gone)
    assert await member.cluster.find(APPLIED_WORK, unique)
    assert await member.cluster.find(NAMESPACE, ns) is None
