"""Steps that a rolling update may take at one moment (contract: placement 2.3, 12)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.applying import ApplyStrategy
from api.base import format_time
from api.bindings import Binding
from api.rollouts import RollingUpdateConfig
from planning.bindings import Desired
from planning.placements import rolling
from planning.placements.rolling import RollingLimits, Steps
from tests.support.conditions import condition

NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
DEFAULTS = RollingLimits.of(None)
STRATEGY = ApplyStrategy()
GENERATION = 3


def binding(
    cluster: str,
    index: int | None = 0,
    *,
    state: str = "Bound",
    started: str = "True",
    available: str = "True",
    reason: str = "AllWorkAreAvailable",
    seconds: int = 300,
    observed: int = GENERATION,
    **metadata: Any,
) -> Binding:
    said = {"RolloutStarted": started, "Available": available}
    since = NOW - timedelta(seconds=seconds)
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": {"name": f"p-{cluster}", "generation": GENERATION} | metadata,
            "spec": {
                "state": state,
                "resourceSnapshotName": "" if index is None else f"p-{index}-snapshot",
                "schedulingPolicySnapshotName": "p-0",
                "targetCluster": cluster,
                "clusterDecision": {"clusterName": cluster, "selected": True, "reason": ""},
                "applyStrategy": STRATEGY.to_wire(),
            },
            "status": {
                "conditions": [
                    condition(kind, status, observed, reason=reason, at=since)
                    for kind, status in said.items()
                    if status
                ]
            },
        }
    )


def scheduled(cluster: str) -> Binding:
    return binding(cluster, None, state="Scheduled", started="", available="")


def plan(*bindings: Binding, index: int = 1, limits: RollingLimits = DEFAULTS) -> Steps:
    desired = Desired(snapshot=f"p-{index}-snapshot", apply_strategy=STRATEGY)
    wanted = {each.spec.target_cluster: desired for each in bindings}
    return rolling.plan(bindings, wanted, limits=limits, now=NOW)


def updated(steps: Steps) -> list[str]:
    return [each.name for each in steps.writes if each.patch]


def limits(share: int | str, seconds: int = 60, surge: int | str = 0) -> RollingLimits:
    return RollingLimits.of(
        RollingUpdateConfig(
            max_unavailable=share, max_surge=surge, unavailable_period_seconds=seconds
        )
    )


@pytest.mark.parametrize(
    ("share", "clusters", "number"),
    [
        ("25%", 3, 1),
        ("25%", 4, 1),
        ("25%", 5, 2),
        ("0%", 9, 0),
        ("100%", 3, 3),
        (2, 9, 2),
        ("2", 9, 2),
    ],
)
def test_a_percentage_is_rounded_up(share: int | str, clusters: int, number: int) -> None:
    assert limits(share).unavailable(clusters) == number
    assert limits(0, surge=share).in_use(clusters) == clusters + number


def test_clusters_without_content_get_it_at_once() -> None:
    steps = plan(scheduled("a"), scheduled("b"), scheduled("c"), index=0)

    assert updated(steps) == ["p-a", "p-b", "p-c"]
    first = steps.writes[0]
    assert first.patch == [
        {"op": "add", "path": "/spec/state", "value": "Bound"},
        {"op": "add", "path": "/spec/resourceSnapshotName", "value": "p-0-snapshot"},
    ]
    assert (first.condition.type, first.condition.status) == ("RolloutStarted", "True")
    assert first.condition.observed_generation == GENERATION + 1
    assert first.condition.message == (
        "Detected the new changes on the resources and started the rollout process"
    )


def test_as_many_clusters_as_allowed_are_updated_and_the_others_report_waiting() -> None:
    steps = plan(*(binding(cluster) for cluster in "abc"))

    assert updated(steps) == ["p-a"]
    held = steps.writes[1:]
    assert [each.name for each in held] == ["p-b", "p-c"]
    assert {each.condition.status for each in held} == {"False"}
    assert {each.condition.reason for each in held} == {"RolloutNotStartedYet"}
    assert {each.condition.observed_generation for each in held} == {GENERATION}


def test_a_waiting_cluster_is_not_marked_again() -> None:
    under_way = binding("a", 1, available="False")
    assert plan(under_way, *(binding(each, started="False") for each in "bc")).writes == ()


def test_the_next_cluster_follows_when_the_first_is_available() -> None:
    steps = plan(binding("a", 1), *(binding(each, started="False") for each in "bc"))
    assert updated(steps) == ["p-b"]


def test_clusters_where_nothing_is_available_are_updated_at_once() -> None:
    broken = [binding(each, available="False") for each in "ab"]
    assert updated(plan(*broken, binding("c"))) == ["p-a", "p-b"]


def test_a_cluster_without_a_report_is_waited_for() -> None:
    unknown = binding("a", observed=GENERATION - 1)
    steps = plan(unknown, limits=limits("100%"))
    assert updated(steps) == []
    assert steps.writes[0].condition.status == "False", "so that its Works are checked again"


def test_nothing_is_updated_if_no_cluster_may_be_unavailable() -> None:
    assert updated(plan(binding("a"), limits=limits(0))) == []


def test_a_binding_changed_by_the_scheduler_is_announced_again() -> None:
    (write,) = plan(binding("a", 1, observed=GENERATION - 1)).writes
    assert write.patch == []
    assert (write.condition.status, write.condition.observed_generation) == ("True", GENERATION)


def test_untrackable_content_counts_as_available_after_its_settling_time() -> None:
    reason = "NotAllWorkAreAvailabilityTrackable"
    young = binding("a", 1, reason=reason, seconds=20)
    steps = plan(young, binding("b"), limits=limits(1))
    assert updated(steps) == []
    assert steps.again == timedelta(seconds=40)

    old = binding("a", 1, reason=reason, seconds=60)
    steps = plan(old, binding("b"), limits=limits(1))
    assert updated(steps) == ["p-b"]
    assert steps.again is None


def test_clusters_no_longer_picked_lose_the_content_within_the_limit() -> None:
    old = [binding(each, 1, state="Unscheduled", observed=GENERATION - 1) for each in "ab"]
    new = [binding(each, 1, available="False") for each in "cd"]
    assert plan(*old, *new).deletions == ("p-a",)
    assert plan(*old, *(binding(each, 1) for each in "cd")).deletions == ("p-a", "p-b")
    assert plan(*old).deletions == ("p-a", "p-b")


def test_new_clusters_wait_while_too_many_have_content() -> None:
    old = [binding(each, state="Unscheduled") for each in "ab"]
    new = [scheduled(each) for each in "cd"]
    assert updated(plan(*old, *new, limits=limits(0))) == []
    assert updated(plan(*old, *new, limits=limits(0, surge=1))) == ["p-c"]
    assert updated(plan(*old, *new, limits=limits(0, surge="100%"))) == ["p-c", "p-d"]

    (blocked, *_) = plan(*old, *new, limits=limits(0)).writes
    assert (blocked.name, blocked.condition.reason) == ("p-c", "RolloutNotStartedYet")


def test_a_replaced_cluster_loses_its_content_when_the_new_one_is_available() -> None:
    old = binding("a", state="Unscheduled")
    careful = limits(0, surge=1)
    assert plan(old, binding("b", 1, available="False"), limits=careful).deletions == ()
    assert plan(old, binding("b", 1), limits=careful).deletions == ("p-a",)


def test_bindings_that_are_being_deleted_are_left_alone() -> None:
    assert plan(binding("a", deletionTimestamp=format_time(NOW))) == Steps((), (), None)


def test_changed_overrides_are_an_update() -> None:
    desired = Desired(
        snapshot="p-0-snapshot", apply_strategy=STRATEGY, cluster_resource_overrides=["o-0"]
    )
    steps = rolling.plan([binding("a")], {"a": desired}, limits=DEFAULTS, now=NOW)
    assert steps.writes[0].patch == [
        {"op": "add", "path": "/spec/clusterResourceOverrideSnapshots", "value": ["o-0"]}
    ]
