"""Objects that a placement may select (contract: placement 2.1, 3)."""

from typing import Any

import pytest

from api.kinds import CONFIG_MAP, NAMESPACE, Kind
from planning.placements.selecting import (
    Selecting,
    SelectionError,
    SelectionRules,
    arrange,
    clean,
    is_selectable,
)
from planning.resource_order import position

Json = dict[str, Any]
PREFIX = "failed to process the request due to a client error: "


def resource(api_version: str, kind: str, name: str = "x", **fields: Any) -> Json:
    metadata = {"name": name, "namespace": "app"} | fields.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata} | fields


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("", "ConfigMap"),
        ("apps", "Deployment"),
        ("example.com", "Event"),
        ("placement.kubernetes-fleet.io", "ResourceEnvelope"),
        ("placement.kubernetes-fleet.io", "ClusterResourceEnvelope"),
    ],
)
def test_kinds_that_may_be_placed(group: str, kind: str) -> None:
    assert is_selectable(group, kind)


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("", "Pod"),
        ("", "Node"),
        ("", "Event"),
        ("events.k8s.io", "Event"),
        ("coordination.k8s.io", "Lease"),
        ("metrics.k8s.io", "PodMetrics"),
        ("cluster.kubernetes-fleet.io", "MemberCluster"),
        ("placement.kubernetes-fleet.io", "ClusterResourcePlacement"),
        ("placement.kubernetes-fleet.io", "Work"),
        ("networking.fleet.azure.com", "ServiceImport"),
    ],
)
def test_kinds_that_may_not_be_placed(group: str, kind: str) -> None:
    assert not is_selectable(group, kind)


@pytest.mark.parametrize(
    ("namespace", "is_allowed"),
    [("app", True), ("default", False), ("kube-system", False), ("fleet-member-a", False)],
)
def test_reserved_namespaces_may_not_be_placed(namespace: str, is_allowed: bool) -> None:
    assert SelectionRules().is_open(namespace) is is_allowed


def test_skipped_namespaces_may_not_be_placed_either() -> None:
    rules = SelectionRules(skipped_namespaces=frozenset({"infra"}))
    assert [each for each in ("app", "infra", "infra-2", "default") if rules.is_open(each)] == [
        "app",
        "infra-2",
    ]
    assert not rules.may_be_placed(resource("v1", "Namespace", "infra"))
    assert rules.may_be_placed(resource("v1", "Namespace", "app"))


def test_volume_claims_are_not_placed_if_the_hub_runs_workloads() -> None:
    rules = SelectionRules(hub_runs_workloads=True)
    assert not rules.may_be_placed(resource("v1", "PersistentVolumeClaim"))
    assert rules.may_be_placed(resource("v1", "PersistentVolume"))
    assert rules.may_be_placed(resource("example.com/v1", "PersistentVolumeClaim"))


@pytest.mark.parametrize(
    ("body", "is_placed"),
    [
        (resource("v1", "ConfigMap"), True),
        (resource("v1", "ConfigMap", "kube-root-ca.crt"), False),
        (resource("v1", "ConfigMap", metadata={"deletionTimestamp": "now"}), False),
        (resource("v1", "ServiceAccount"), True),
        (resource("v1", "ServiceAccount", "default"), False),
        (resource("v1", "Secret", type="Opaque"), True),
        (resource("v1", "Secret", type="kubernetes.io/service-account-token"), False),
        (resource("apps/v1", "ReplicaSet"), True),
        (resource("apps/v1", "ReplicaSet", metadata={"ownerReferences": [{}]}), False),
        (resource("apps/v1", "ControllerRevision", metadata={"ownerReferences": [{}]}), False),
        (resource("example.com/v1", "ReplicaSet", metadata={"ownerReferences": [{}]}), True),
        (resource("v1", "Endpoints", "alone"), True),
        (resource("v1", "Endpoints", "served"), False),
        (
            resource(
                "discovery.k8s.io/v1",
                "EndpointSlice",
                metadata={"labels": {"endpointslice.kubernetes.io/managed-by": "x"}},
            ),
            False,
        ),
        (resource("discovery.k8s.io/v1", "EndpointSlice"), True),
        (resource("v1", "PersistentVolumeClaim"), True),
        (resource("v1", "Namespace", "kube-public"), False),
    ],
)
def test_objects_that_the_cluster_created_itself_are_not_placed(
    body: Json, is_placed: bool
) -> None:
    assert SelectionRules().may_be_placed(body, services={("app", "served")}) is is_placed


def test_cleaning_keeps_the_users_fields() -> None:
    body = resource(
        "v1",
        "ConfigMap",
        metadata={
            "uid": "u",
            "resourceVersion": "7",
            "generation": 3,
            "creationTimestamp": "now",
            "managedFields": [{}],
            "ownerReferences": [{}],
            "labels": {"app": "web"},
            "finalizers": ["example.com/hold"],
            "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "note": "kept",
            },
        },
        data={"k": "v"},
        status={"phase": "x"},
    )
    before = repr(body)

    assert clean(body) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "x",
            "namespace": "app",
            "labels": {"app": "web"},
            "finalizers": ["example.com/hold"],
            "annotations": {"note": "kept"},
        },
        "data": {"k": "v"},
    }
    assert repr(body) == before


def test_no_empty_annotations_are_left_when_all_are_dropped() -> None:
    annotations = {"deployment.kubernetes.io/revision": "1"}
    body = resource("apps/v1", "Deployment", metadata={"annotations": annotations})
    assert "annotations" not in clean(body)["metadata"]


def test_a_service_loses_its_addresses() -> None:
    spec = {
        "clusterIP": "10.0.0.1",
        "clusterIPs": ["10.0.0.1"],
        "healthCheckNodePort": 3,
        "ports": [{"port": 80, "nodePort": 30000}],
    }
    assert clean(resource("v1", "Service", spec=spec))["spec"] == {"ports": [{"port": 80}]}


def test_a_headless_service_stays_headless() -> None:
    spec = {"clusterIP": "None", "clusterIPs": ["None"]}
    assert clean(resource("v1", "Service", spec=spec))["spec"] == spec


def test_a_job_loses_the_labels_of_its_controller() -> None:
    labels = {"controller-uid": "u", "batch.kubernetes.io/controller-uid": "u", "app": "web"}
    template = {"metadata": {"labels": labels, "creationTimestamp": None}, "spec": {}}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    assert clean(resource("batch/v1", "Job", spec=spec))["spec"] == {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {}},
    }


def test_a_job_with_a_manual_selector_is_left_alone() -> None:
    spec = {"manualSelector": True, "selector": {"matchLabels": {"controller-uid": "mine"}}}
    assert clean(resource("batch/v1", "Job", spec=spec))["spec"] == spec


def test_objects_are_ordered_so_that_they_can_be_applied() -> None:
    bodies = [
        resource("example.com/v1", "Zebra"),
        resource("apps/v1", "Deployment"),
        resource("example.com/v1", "Ape"),
        resource("v1", "ConfigMap", "b"),
        resource("v1", "ConfigMap", "a"),
        resource("v1", "Namespace"),
    ]
    names = [(each["kind"], each["metadata"]["name"]) for each in sorted(bodies, key=position)]
    assert names == [
        ("Namespace", "x"),
        ("ConfigMap", "a"),
        ("ConfigMap", "b"),
        ("Deployment", "x"),
        ("Ape", "x"),
        ("Zebra", "x"),
    ]


def test_an_object_that_two_selectors_match_is_an_error() -> None:
    body = resource("v1", "ConfigMap")
    with pytest.raises(SelectionError) as caught:
        arrange([body, body])
    assert str(caught.value) == (
        PREFIX + "found duplicate resource "
        "{Group: Version:v1 Kind:ConfigMap Name:x Namespace:app Envelope:<nil>}"
    )


CLUSTER = Selecting("", "p")
NAMESPACED = Selecting("app", "p")
CLUSTER_ROLE = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            CLUSTER.unknown_kind("Nonsense", "v1"),
            (
                "invalid placement /p, failed to get GVR of the selector: "
                'no matches for kind "Nonsense" in version "v1"'
            ),
        ),
        (
            CLUSTER.wrong_scope(CONFIG_MAP),
            (
                "invalid placement /p: cannot select namespace-scoped resource "
                "/v1, Resource=configmaps in a clusterResourcePlacement"
            ),
        ),
        (
            NAMESPACED.wrong_scope(CLUSTER_ROLE),
            (
                "invalid placement app/p: cannot select cluster-scoped resource "
                "rbac.authorization.k8s.io/v1, Resource=clusterroles in a resourcePlacement"
            ),
        ),
        (
            NAMESPACED.wrong_scope(NAMESPACE),
            (
                "invalid placement app/p: "
                "cannot select cluster-scoped resource Namespace in a resourcePlacement"
            ),
        ),
        (
            CLUSTER.closed_namespace("kube-system"),
            (
                "invalid clusterRresourcePlacement p: "
                "namespace kube-system is not allowed to propagate"
            ),
        ),
        (
            CLUSTER.no_namespace(),
            (
                "invalid clusterResourcePlacement p: NamespaceWithResourceSelectors mode requires "
                "exactly one namespace, but no namespaces were selected"
            ),
        ),
    ],
)
def test_errors_name_the_placement_and_what_is_wrong(error: SelectionError, text: str) -> None:
    assert str(error) == PREFIX + text
