from datetime import UTC, datetime, timedelta

from api.base import ObjectMeta
from api.members import (
    AgentStatus,
    MemberCluster,
    MemberClusterSpec,
    MemberClusterStatus,
    RbacSubject,
)
from planning import conditions
from planning.members.member_conditions import alive, awaiting, has_left, left

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)


def member(status: MemberClusterStatus | None = None, *, generation: int = 1) -> MemberCluster:
    return MemberCluster(
        metadata=ObjectMeta(name="member1", generation=generation),
        spec=MemberClusterSpec(identity=RbacSubject(kind="User", name="member1")),
        status=status or MemberClusterStatus(),
    )


def test_the_first_heartbeat_joins_the_fleet() -> None:
    status = alive(member(), now=NOW)
    assert {each.type: each.status for each in status.conditions} == {
        "ReadyToJoin": "True",
        "Joined": "True",
        "Healthy": "True",
    }
    assert [each.type for each in status.agent_status] == ["MemberAgent"]
    assert status.agent_status[0].last_received_heartbeat == NOW


def test_a_later_heartbeat_changes_only_its_own_time() -> None:
    first = alive(member(), now=NOW)
    second = alive(member(first), now=LATER)
    assert second.conditions == first.conditions
    assert second.agent_status[0].conditions == first.agent_status[0].conditions
    assert second.agent_status[0].last_received_heartbeat == LATER


def test_conditions_observe_the_current_generation() -> None:
    status = alive(member(alive(member(), now=NOW), generation=2), now=LATER)
    assert {each.observed_generation for each in status.conditions} == {2}
    assert {each.last_transition_time for each in status.conditions} == {NOW}


def test_a_member_whose_api_server_is_unreachable_is_joined_and_unhealthy() -> None:
    first = alive(member(), now=NOW)
    status = alive(member(first), problem="no answer", now=LATER)
    healthy = conditions.find(status.agent_status[0].conditions, "Healthy")
    assert healthy is not None
    assert (healthy.status, healthy.reason, healthy.message) == (
        "False",
        "InternalMemberClusterUnhealthy",
        "no answer",
    )
    assert healthy.last_transition_time == LATER
    assert conditions.has(status.conditions, "Joined")
    assert conditions.has(status.conditions, "Healthy", "False")


def test_a_leaving_member_reports_it_once() -> None:
    joined = member(alive(member(), now=NOW))
    assert not has_left(joined)
    status = left(joined, now=LATER)
    assert has_left(member(status))
    assert status.agent_status[0].last_received_heartbeat == NOW


def test_other_agents_are_kept() -> None:
    other = AgentStatus(type="OtherAgent", last_received_heartbeat=NOW)
    status = alive(member(MemberClusterStatus(agent_status=[other])), now=LATER)
    assert [each.type for each in status.agent_status] == ["MemberAgent", "OtherAgent"]
    assert status.agent_status[1] == other


def test_a_new_member_is_ready_to_join_and_waits_for_its_agent() -> None:
    at = "2026-01-02T03:04:05Z"
    assert [each.to_wire() for each in awaiting(member(generation=2), now=NOW)] == [
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
    said = MemberClusterStatus(conditions=awaiting(member(generation=2), now=NOW))
    assert awaiting(member(said, generation=2), now=NOW) == []


def test_nothing_is_set_once_an_agent_has_reported() -> None:
    assert awaiting(member(alive(member(generation=2), now=NOW), generation=2), now=NOW) == []
