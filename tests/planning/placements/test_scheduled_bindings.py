"""Changes that make bindings match a schedule (contract: placement 6)."""

from typing import Any

from api import names
from api.bindings import Binding
from api.policies import ClusterDecision
from planning.placements.scheduled_bindings import Changes, binding_name, follow, held
from planning.placements.scheduling import Held, Holding

Json = dict[str, Any]


def decision(cluster: str, reason: str = "why") -> ClusterDecision:
    return ClusterDecision(cluster_name=cluster, selected=True, reason=reason)


def binding(
    cluster: str,
    *,
    state: str = "Bound",
    policy: str = "p-0",
    annotations: dict[str, str] | None = None,
    deleting: bool = False,
    name: str = "",
    snapshot: str = "p-0-snapshot",
) -> Binding:
    metadata: Json = {
        "name": name or f"p-{cluster}-0",
        "resourceVersion": "7",
        "annotations": annotations or {},
    }
    if deleting:
        metadata["deletionTimestamp"] = "2026-01-02T03:04:05Z"
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": metadata,
            "spec": {
                "state": state,
                "resourceSnapshotName": snapshot,
                "schedulingPolicySnapshotName": policy,
                "targetCluster": cluster,
                "clusterDecision": decision(cluster).to_wire(),
            },
        }
    )


def changes(picked: list[str], *bindings: Binding, policy: str = "p-0") -> Changes:
    decisions = [decision(each) for each in picked]
    return follow(decisions, bindings, policy=policy, placement="p", placement_uid="u")


def test_a_new_cluster_gets_a_binding() -> None:
    made = changes(["a"])

    (creation,) = made.creations
    assert made.changes == ()
    assert creation.name == binding_name("p", "u", "a")
    assert creation.spec == {
        "state": "Scheduled",
        "resourceSnapshotName": "",
        "schedulingPolicySnapshotName": "p-0",
        "targetCluster": "a",
        "clusterDecision": {"clusterName": "a", "selected": True, "reason": "why"},
    }


def test_correct_bindings_are_not_touched() -> None:
    assert changes(["a"], binding("a")) == Changes((), ())


def test_another_reason_alone_does_not_cause_a_write() -> None:
    made = follow(
        [decision("a", "other")], [binding("a")], policy="p-0", placement="p", placement_uid="u"
    )
    assert made == Changes((), ())


def test_a_new_policy_only_repoints_bindings() -> None:
    (change,) = changes(["a"], binding("a"), policy="p-1").changes

    assert change.patch == {
        "metadata": {"resourceVersion": "7"},
        "spec": {
            "schedulingPolicySnapshotName": "p-1",
            "clusterDecision": {
                "clusterName": "a",
                "selected": True,
                "reason": "why",
                "clusterScore": None,
            },
        },
    }


def test_the_binding_of_a_cluster_no_longer_picked_is_unscheduled() -> None:
    (change,) = changes([], binding("a", annotations={"note": "x"})).changes

    assert change.patch == {
        "metadata": {
            "resourceVersion": "7",
            "annotations": {"note": None, names.PREVIOUS_BINDING_STATE: "Bound"},
        },
        "spec": {"state": "Unscheduled"},
    }


def test_an_unscheduled_binding_is_not_touched() -> None:
    assert changes([], binding("a", state="Unscheduled")).changes == ()


def test_the_binding_of_a_cluster_picked_again_gets_its_state_back() -> None:
    annotations = {names.PREVIOUS_BINDING_STATE: "Bound"}
    given_up = binding("a", state="Unscheduled", annotations=annotations)

    made = changes(["a"], given_up, policy="p-1")

    (change,) = made.changes
    assert made.creations == ()
    assert change.patch["spec"]["state"] == "Bound"
    assert change.patch["spec"]["schedulingPolicySnapshotName"] == "p-1"
    assert change.patch["metadata"]["annotations"] == {names.PREVIOUS_BINDING_STATE: None}


def test_without_a_recorded_state_it_is_derived_from_the_content() -> None:
    for snapshot, state in (("p-0-snapshot", "Bound"), ("", "Scheduled")):
        (change,) = changes(["a"], binding("a", state="Unscheduled", snapshot=snapshot)).changes
        assert change.patch["spec"]["state"] == state


def test_a_binding_that_is_being_deleted_does_not_count() -> None:
    name = binding_name("p", "u", "a")
    made = changes(["a"], binding("a", deleting=True, name=name))

    (creation,) = made.creations
    assert creation.name != name
    assert made.changes == ()


def test_an_active_binding_takes_precedence_over_an_unscheduled_one() -> None:
    assert changes(["a"], binding("a"), binding("a", state="Unscheduled", name="z")).changes == ()


def test_names_fit_into_a_label() -> None:
    name = binding_name("p" * 63, "u", "c" * 63)
    assert len(name) == 63
    assert name.startswith("p" * 26 + "-" + "c" * 27 + "-")
    assert binding_name("p", "u", "a") != binding_name("p", "u2", "a")


def test_clusters_with_a_binding_are_grouped_by_policy() -> None:
    found = held(
        [
            binding("a"),
            binding("b", policy="p-1", state="Scheduled"),
            binding("c", state="Unscheduled"),
            binding("d", deleting=True),
            binding("e", policy="p-1"),
        ],
        policy="p-1",
    )
    assert found == Held(
        current={
            "b": Holding(decision("b"), bound=False),
            "e": Holding(decision("e"), bound=True),
        },
        earlier=frozenset({"a"}),
    )
