"""Conditions of a member that waits for its agent (contract: placement 11)."""

from datetime import UTC, datetime

from api.base import ObjectMeta
from api.members import MemberCluster, MemberClusterSpec, MemberClusterStatus, Subject
from planning.members.joining import awaiting
from planning.members.member_conditions import alive

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def member(status: MemberClusterStatus | None = None) -> MemberCluster:
    return MemberCluster(
        metadata=ObjectMeta(name="member1", generation=2),
        spec=MemberClusterSpec(identity=Subject(kind="User", name="member1")),
        status=status or MemberClusterStatus(),
    )


def test_a_new_member_is_ready_to_join_and_waits_for_its_agent() -> None:
    at = "2026-01-02T03:04:05Z"
    assert [each.to_wire() for each in awaiting(member(), now=NOW)] == [
        {
            "type": "ReadyToJoin",
            "status": "True",
            "reason": "MemberClusterReadyToJoin",
            "message": "Member cluster is ready to join the fleet",
            "observedGeneration": 2,
            "lastTransitionTime": at,
        },
        {
            "type": "Joined",
            "status": "Unknown",
            "reason": "MemberClusterJoinStateUnknown",
            "message": "Member cluster member1 has not reported all the expected agents,"
            " expected 1, got 0",
            "observedGeneration": 2,
            "lastTransitionTime": at,
        },
    ]


def test_the_conditions_are_set_only_once() -> None:
    said = MemberClusterStatus(conditions=awaiting(member(), now=NOW))
    assert awaiting(member(said), now=NOW) == []


def test_nothing_is_set_once_an_agent_has_reported() -> None:
    assert awaiting(member(alive(member(), now=NOW)), now=NOW) == []
