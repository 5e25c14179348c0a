"""Eligibility of members, and until when it lasts (contract: placement 4, 11)."""

from datetime import timedelta

import pytest

from api.members import MemberCluster
from planning.placements.eligibility import candidate, ineligible, patience_left, silence
from tests.planning.placements.fleets import NOW, condition, member

DISCONNECTED = "cluster is not connected to the fleet: "


def without_agent() -> MemberCluster:
    body = member()
    body.status.agent_status = []
    return body


def without_health() -> MemberCluster:
    body = member()
    body.status.agent_status[0].conditions.pop()
    return body


def without_time() -> MemberCluster:
    return member(heartbeat=None)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (member(), ""),
        (member(heartbeat=5), ""),
        (member(leaving=True), "cluster has left the fleet"),
        (without_agent(), DISCONNECTED + "member agent not online yet"),
        (without_time(), DISCONNECTED + "member agent not online yet"),
        (
            member(heartbeat=7.5),
            DISCONNECTED + "no recent heartbeat signals (last received 7.50 minutes ago)",
        ),
        (member(joined="Unknown"), DISCONNECTED + "member agent not joined yet"),
        (
            without_health(),
            DISCONNECTED + "health condition from member agent is not available",
        ),
        (member(healthy=condition("Healthy", "False", 4)), ""),
        (
            member(healthy=condition("Healthy", "False", 6)),
            DISCONNECTED
            + "unhealthy for a prolonged period of time (last transitioned 6.00 minutes ago)",
        ),
    ],
)
def test_members_that_are_and_are_not_eligible(body: MemberCluster, why: str) -> None:
    assert ineligible(body, now=NOW) == why


@pytest.mark.parametrize(
    ("body", "minutes"),
    [
        (member(heartbeat=1), 4),
        (member(heartbeat=5), 0),
        (member(heartbeat=6), None),
        (without_agent(), None),
        (without_time(), None),
        (member(heartbeat=1, healthy=condition("Healthy", "False", 3)), 2),
        (member(heartbeat=4, healthy=condition("Healthy", "False", 3)), 1),
        (member(heartbeat=1, healthy=condition("Healthy", "False", 9)), 4),
        (member(heartbeat=1, healthy=condition("Healthy", "True", 3)), 4),
    ],
)
def test_the_time_until_silence_makes_a_member_ineligible(
    body: MemberCluster, minutes: int | None
) -> None:
    left = patience_left(body, now=NOW)
    assert left == (None if minutes is None else timedelta(minutes=minutes))


def test_a_member_is_ineligible_as_soon_as_the_time_is_over() -> None:
    body = member(heartbeat=1)
    left = patience_left(body, now=NOW)
    assert left is not None
    assert ineligible(body, now=NOW + left) == ""
    assert ineligible(body, now=NOW + left + timedelta(milliseconds=1)) != ""


def test_available_resources_are_among_a_members_properties() -> None:
    body = member(properties={"kubernetes-fleet.io/node-count": "3"}, available={"cpu": "1500m"})
    body.status.resource_usage.capacity = {"memory": "16Gi"}
    body.status.resource_usage.allocatable = {"cpu": 4}
    assert candidate(body, now=NOW).properties == {
        "kubernetes-fleet.io/node-count": "3",
        "resources.kubernetes-fleet.io/total-memory": "16Gi",
        "resources.kubernetes-fleet.io/allocatable-cpu": "4",
        "resources.kubernetes-fleet.io/available-cpu": "1500m",
    }


def test_namespaces_are_known_only_if_they_are_collected() -> None:
    uncollected = member()
    uncollected.status.namespaces = {"app": ""}
    assert candidate(uncollected, now=NOW).namespaces is None
    assert candidate(member(namespaces=["app"]), now=NOW).namespaces == frozenset({"app"})
    assert candidate(member(namespaces=[]), now=NOW).namespaces == frozenset()


@pytest.mark.parametrize(
    ("body", "minutes"),
    [(member(heartbeat=3), 3), (without_time(), None), (without_agent(), None)],
)
def test_how_long_a_member_is_silent(body: MemberCluster, minutes: float | None) -> None:
    expected = None if minutes is None else timedelta(minutes=minutes)
    assert silence(body, now=NOW) == expected
