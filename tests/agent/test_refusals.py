"""Manifests that cannot be applied: each says why, and the others are applied."""

import json

import pytest

from api import names
from api.kinds import APPLIED_WORK, CONFIG_MAP, NAMESPACE, WORK, Kind
from hub import HubError, Json
from tests.agent.support import Member, config_map, namespace
from tests.support.conditions import conditions_of
from tests.support.eventually import eventually
from tests.support.running import running

PRIORITY_CLASS = Kind(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)

CLUSTER_ROLE = Kind(
    "rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False
)

NS = "default"
OF_TEAM = {names.PARENT_PLACEMENT_NAMESPACE: NS}
"""Label of a Work that comes from a ResourcePlacement of that namespace."""
OF_BOX = {names.ENVELOPE_WORK: "ResourceEnvelope", names.ENVELOPE_NAMESPACE: NS}
"""Labels of a Work that comes from a ResourceEnvelope of that namespace, however it was placed."""


def applied(work: Json, ordinal: int) -> Json:
    """The Applied condition of one manifest."""
    entry = work["status"]["manifestConditions"][ordinal]
    assert entry["identifier"]["ordinal"] == ordinal
    return conditions_of(entry)["Applied"]


def priority_class(name: str, value: int) -> Json:
    return {
        "apiVersion": PRIORITY_CLASS.api_version,
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


async def test_a_refused_change_is_reported_with_the_servers_message(
    member: Member, unique: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, priority_class(unique, 1))
        await member.reported(unique)
        await member.put(unique, priority_class(unique, 2))
        work = await member.reported(unique, available=None)
    assert conditions_of(work["status"])["Applied"]["message"] == (
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


async def test_a_kind_that_the_member_does_not_serve_does_not_affect_others(
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


async def test_a_custom_resource_can_be_placed_together_with_its_definition(
    member: Member, unique: str
) -> None:
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
    said = conditions_of(work["status"])["Available"]
    assert said["reason"] == "WorkNotTrackable"
    assert work["status"]["manifestConditions"][0]["identifier"]["resource"] == "things"


async def test_a_manifest_that_admission_refuses_does_not_affect_others(
    member: Member, unique: str
) -> None:
    ns = f"{unique}-ns"
    group = "admissionregistration.k8s.io"
    policy = {
        "metadata": {"name": unique},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["configmaps"],
                    }
                ],
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": ns}},
            },
            "validations": [{"expression": "'team' in object.data", "message": "say your team"}],
        },
    }
    binding = {
        "metadata": {"name": unique},
        "spec": {"policyName": unique, "validationActions": ["Deny"]},
    }
    for body, name in ((policy, ""), (binding, "Binding")):
        kind = await member.cluster.kind_for(f"{group}/v1", f"ValidatingAdmissionPolicy{name}")
        assert kind is not None
        await member.cluster.create(kind, body)
    refused, fine = config_map("refused", ns, a="1"), config_map("fine", ns, team="x")
    async with running(member.agent()):
        await member.put(unique, namespace(ns), fine)
        await member.reported(unique)
        await eventually(lambda: _is_enforced(member, ns))
        await member.put(unique, namespace(ns), refused, fine)
        work = await member.reported(unique, available=None)
    said = applied(work, 1)
    assert said["reason"] == "ManifestApplyFailed"
    assert said["message"].startswith(
        "Failed to apply the manifest (error: failed to apply the manifest: failed to create "
        "manifest object: error returned by the API server: "
    )
    assert said["message"].endswith("denied request: say your team)")
    assert applied(work, 2)["status"] == "True"


async def _is_enforced(member: Member, ns: str) -> bool:
    """True once admission enforces a new policy, which takes a moment."""
    try:
        await member.cluster.create(CONFIG_MAP, config_map("probe", ns), dry_run=True)
    except HubError:
        return True
    return False


async def test_a_duplicate_manifest_is_refused(member: Member, unique: str) -> None:
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


async def test_an_applied_work_of_another_fleet_is_left_alone(member: Member, unique: str) -> None:
    ns = f"{unique}-ns"
    spec = {"workName": unique, "workNamespace": "fleet-member-elsewhere"}
    await member.cluster.create(APPLIED_WORK, {"metadata": {"name": unique}, "spec": spec})
    async with running(member.agent()):
        await member.put(unique, namespace(ns))
        work = await member.reported(unique, available=None)
        assert "another fleet uses this cluster" in applied(work, 0)["message"]
        await member.hub.delete(WORK, unique, namespace=member.namespace)
        await member.gone(unique)
    assert await member.cluster.find(APPLIED_WORK, unique)
    assert await member.cluster.find(NAMESPACE, ns) is None


def cluster_role(name: str, **metadata: str) -> Json:
    return {
        "apiVersion": CLUSTER_ROLE.api_version,
        "kind": CLUSTER_ROLE.kind,
        "metadata": {"name": name} | metadata,
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    }


async def test_a_cluster_scoped_object_with_a_namespace_is_refused(
    member: Member, unique: str
) -> None:
    async with running(member.agent()):
        await member.put(unique, cluster_role(unique, namespace="team"), config_map(unique, NS))
        work = await member.reported(unique, available=None)
    assert applied(work, 0)["reason"] == "DecodingErred"
    assert applied(work, 0)["message"].endswith(
        f"ClusterRole '{unique}' is cluster-scoped, but its manifest sets namespace 'team')"
    )
    assert applied(work, 1)["status"] == "True"
    assert await member.cluster.find(CLUSTER_ROLE, unique) is None


@pytest.mark.parametrize("labels", [OF_TEAM, OF_BOX], ids=["placement", "envelope"])
@pytest.mark.parametrize("takeover", ["Always", "IfNoDiff", "Never"])
async def test_objects_from_a_namespace_stay_in_that_namespace(
    member: Member, unique: str, takeover: str, labels: dict[str, str]
) -> None:
    outside = f"{unique}-outside"
    theirs = config_map(unique, outside, key="theirs")
    await member.cluster.apply(NAMESPACE, namespace(outside))
    await member.cluster.create(CONFIG_MAP, theirs)
    attacks = [
        config_map(unique, outside, key="mine"),
        cluster_role(unique),
        namespace(f"{unique}-new"),
    ]
    strategy = {"whenToTakeOver": takeover}
    async with running(member.agent()):
        await member.put(unique, *attacks, config_map(unique, NS), strategy=strategy, labels=labels)
        work = await member.reported(unique, available=None)
        says = [applied(work, ordinal) for ordinal in range(4)]
        assert [each["status"] for each in says] == ["False", "False", "False", "True"]
        assert {each["reason"] for each in says[:3]} == {"ManifestApplyFailed"}
        assert says[0]["message"] == (
            f"Failed to apply the manifest (error: ConfigMap '{unique}' is in namespace "
            f"'{outside}': objects from namespace '{NS}' of the hub must stay in that namespace)"
        )
        assert "is cluster-scoped: objects from namespace" in says[1]["message"]

        # Deleting the Work does not delete objects that it never owned.
        await member.hub.delete(WORK, unique, namespace=member.namespace)
        await member.gone(unique)
    assert await member.data(unique, outside) == {"key": "theirs"}
    assert await member.cluster.find(CLUSTER_ROLE, unique) is None
    assert await member.cluster.find(NAMESPACE, f"{unique}-new") is None


async def test_reported_differences_show_nothing_from_outside_the_namespace(
    member: Member, unique: str
) -> None:
    outside = f"{unique}-outside"
    await member.cluster.apply(NAMESPACE, namespace(outside))
    await member.cluster.create(CONFIG_MAP, config_map(unique, outside, key="secret"))
    async with running(member.agent()):
        await member.put(
            unique,
            config_map(unique, outside, key="guess"),
            strategy={"type": "ReportDiff"},
            labels=OF_TEAM,
        )

        def is_told(work: Json) -> bool:
            return bool(work.get("status", {}).get("manifestConditions"))

        work = await eventually(lambda: member.work(unique), is_told)
    (said,) = work["status"]["manifestConditions"]
    assert "objects from namespace" in conditions_of(said)["DiffReported"]["message"]
    assert "diffDetails" not in said
    assert "secret" not in json.dumps(work["status"])


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "List"),
        ("v1", "ConfigMapList"),
        ("policy/v1", "Eviction"),
        ("autoscaling/v1", "Scale"),
    ],
)
async def test_a_manifest_that_is_not_a_stored_object_is_refused(
    member: Member, unique: str, api_version: str, kind: str
) -> None:
    manifest: Json = {"apiVersion": api_version, "kind": kind, "metadata": {"name": unique}}
    manifest |= {"items": [cluster_role(unique)]}
    async with running(member.agent()):
        await member.put(unique, manifest)
        work = await member.reported(unique, available=None)
    assert applied(work, 0)["reason"] == "DecodingErred"
    assert await member.cluster.find(CLUSTER_ROLE, unique) is None
