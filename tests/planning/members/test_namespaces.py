"""Namespaces of a member, as its status reports them (contract: placement 11, 12)."""

from datetime import UTC, datetime
from typing import Any

from api.members import MemberCluster, MemberClusterStatus
from planning.members import namespaces

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
LATER = datetime(2026, 1, 2, 13, 0, tzinfo=UTC)


def namespace(name: str, *owners: tuple[str, str], **metadata: str) -> Json:
    references = [{"kind": kind, "name": owner} for kind, owner in owners]
    return {"metadata": {"name": name, "ownerReferences": references, **metadata}}


def member(status: MemberClusterStatus | None = None) -> MemberCluster:
    return MemberCluster.from_wire(
        {
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
            "kind": "MemberCluster",
            "metadata": {"name": "m", "generation": 3},
            "spec": {"identity": {"kind": "User", "name": "m"}},
            "status": status.to_wire() if status else {},
        }
    )


def test_a_namespace_is_listed_with_the_work_that_placed_it() -> None:
    found = [
        namespace("own"),
        namespace("placed", ("Team", "a"), ("AppliedWork", "web-work")),
        namespace("going", deletionTimestamp="2026-01-02T11:00:00Z"),
        {"metadata": {"name": "plain"}},
    ]
    assert namespaces.owners(found) == {"own": "", "placed": "web-work", "plain": ""}


def test_namespaces_are_added_to_the_rest_of_the_status() -> None:
    said = namespaces.reported(
        MemberClusterStatus(), {"b": "", "a": "web-work"}, member=member(), limit=2, now=NOW
    )
    assert said.namespaces == {"a": "web-work", "b": ""}
    (condition,) = said.conditions
    assert (condition.type, condition.status) == ("NamespaceCollectionSucceeded", "True")
    assert condition.reason == "Succeeded"
    assert condition.message == "All namespaces have been collected successfully"
    assert condition.observed_generation == 3


def test_too_many_namespaces_are_cut_off_by_name_and_a_condition_says_so() -> None:
    found = dict.fromkeys(("c", "a", "b"), "")
    said = namespaces.reported(MemberClusterStatus(), found, member=member(), limit=2, now=NOW)
    assert list(said.namespaces) == ["a", "b"]
    (condition,) = said.conditions
    assert (condition.status, condition.reason) == ("False", "Degraded")


def test_a_condition_keeps_its_time_while_its_status_stays() -> None:
    first = namespaces.reported(MemberClusterStatus(), {}, member=member(), limit=1, now=NOW)
    again = namespaces.reported(
        MemberClusterStatus(), {"a": ""}, member=member(first), limit=1, now=LATER
    )
    assert again.conditions[0].last_transition_time == NOW
    more = namespaces.reported(
        MemberClusterStatus(), {"a": "", "b": ""}, member=member(again), limit=1, now=LATER
    )
    assert more.conditions[0].last_transition_time == LATER
