"""Conditions of a binding, from its Works (contract: placement 6, 12)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.base import format_time
from api.bindings import Binding
from api.works import WorkStatus
from planning.placements.binding_status import BindingReport, is_announced, is_reported, report
from planning.placements.binding_steps import IN_PROGRESS_FOR, DistributionOutcome, WorkReport
from tests.support import conditions

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
EARLIER = format_time(NOW - timedelta(minutes=1))


def condition(kind: str, status: str, generation: int, reason: str = "Test") -> Json:
    message = "said by the member"
    return conditions.condition(
        kind, status, generation, reason=reason, message=message, at=EARLIER
    )


def binding(*conditions: Json, generation: int = 2, strategy: str = "ClientSideApply") -> Binding:
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": {"name": "b", "generation": generation},
            "spec": {
                "state": "Bound",
                "resourceSnapshotName": "p-0-snapshot",
                "schedulingPolicySnapshotName": "p-0",
                "targetCluster": "a",
                "clusterDecision": {"clusterName": "a", "selected": True, "reason": ""},
                "applyStrategy": {"type": strategy},
            },
            "status": {"conditions": list(conditions)},
        }
    )


def manifest(name: str, *conditions: Json, **details: Any) -> Json:
    identifier = {
        "ordinal": 0,
        "group": "apps",
        "version": "v1",
        "kind": "Deployment",
        "resource": "deployments",
        "namespace": "app",
        "name": name,
    }
    return {"identifier": identifier, "conditions": list(conditions)} | details


def work(
    applied: str = "True",
    available: str = "True",
    *,
    name: str = "w",
    observed: int = 3,
    reason: str = "AllManifestsAvailable",
    manifests: list[Json] | None = None,
) -> WorkReport:
    conditions = [condition("Applied", applied, observed)] if applied else []
    if available:
        conditions.append(condition("Available", available, observed, reason))
    status = {"conditions": conditions, "manifestConditions": manifests or []}
    return WorkReport(name, 3, WorkStatus.from_wire(status))


def diff_report(status: str, *manifests: Json) -> WorkReport:
    conditions = [condition("DiffReported", status, 3)]
    body = {"conditions": conditions, "manifestConditions": list(manifests)}
    return WorkReport("w", 3, WorkStatus.from_wire(body))


def judge(of: Binding, *works: WorkReport, **errors: str) -> BindingReport:
    return report(of, DistributionOutcome(works, **errors), now=NOW)


def summary(made: BindingReport) -> list[str]:
    return [f"{each.type} {each.status} {each.reason}" for each in made.conditions]


START = ["Overridden True NoOverrideSpecified", "WorkSynchronized True AllWorkSynced"]


@pytest.mark.parametrize(
    ("works", "last", "message"),
    [
        (
            [work()],
            ["Applied True AllWorkHaveBeenApplied", "Available True AllWorkAreAvailable"],
            "All corresponding work objects are available",
        ),
        (
            [work(), work(name="x", reason="WorkNotTrackable")],
            [
                "Applied True AllWorkHaveBeenApplied",
                "Available True NotAllWorkAreAvailabilityTrackable",
            ],
            "The availability of work object x is not trackable",
        ),
        (
            [work(), work(available="False", name="x")],
            ["Applied True AllWorkHaveBeenApplied", "Available False NotAllWorkAreAvailable"],
            "Work object x is not yet available",
        ),
        (
            [work(available="")],
            ["Applied True AllWorkHaveBeenApplied", "Available False NotAllWorkAreAvailable"],
            "Work object w has not yet completed availability check",
        ),
        (
            [work(applied="False", available="")],
            ["Applied False NotAllWorkHaveBeenApplied"],
            "Work object w has failed to apply",
        ),
        (
            [work(observed=2)],
            ["Applied False ApplyInProgress"],
            "Resources are being applied",
        ),
        (
            [],
            ["Applied True AllWorkHaveBeenApplied", "Available True AllWorkAreAvailable"],
            "All corresponding work objects are available",
        ),
    ],
)
def test_the_chain_of_applying(works: list[WorkReport], last: list[str], message: str) -> None:
    made = judge(binding(), *works)

    assert summary(made) == START + last
    assert made.conditions[-1].message == message
    assert {each.observed_generation for each in made.conditions} == {2}
    assert made.pending is last[-1].split()[1].startswith("False")


@pytest.mark.parametrize(
    ("works", "last", "message"),
    [
        (
            [diff_report("True")],
            "DiffReported True AllWorkHaveDiffReported",
            "All corresponding work objects have reported diff",
        ),
        (
            [diff_report("False")],
            "DiffReported False NotAllWorkHaveDiffReported",
            "Work object w has failed to report diff",
        ),
        (
            [work(applied="", available="")],
            "DiffReported False DiffReportInProgress",
            "Diff reporting on resources is in progress",
        ),
    ],
)
def test_the_chain_of_diff_reports(works: list[WorkReport], last: str, message: str) -> None:
    made = judge(binding(strategy="ReportDiff"), *works)
    assert summary(made) == [*START, last]
    assert made.conditions[-1].message == message


def test_a_member_that_stays_silent_is_no_longer_called_busy() -> None:
    synced = condition("WorkSynchronized", "True", 2)
    at_once, late = judge(binding(), work(observed=2)), judge(binding(synced), work(observed=2))

    assert at_once.waiting
    assert not late.waiting
    assert late.conditions[-1].reason == "NotAllWorkHaveBeenApplied"
    assert late.conditions[-1].message == "Work object w has not yet completed the apply op"
    assert late.outcomes.failed == ()
    assert timedelta(minutes=1) > IN_PROGRESS_FOR


def test_errors_of_the_hub_end_the_chain() -> None:
    overrides = judge(binding(), override_error="bad path")
    assert summary(overrides) == ["Overridden False OverriddenFailed"]
    wanted = "Failed to apply the override rules on the resources: bad path"
    assert overrides.conditions[0].message == wanted

    sync = judge(binding(), work(), sync_error="no namespace")
    assert summary(sync) == [START[0], "WorkSynchronized False SyncWorkFailed"]
    assert sync.conditions[1].message == (
        "Failed to synchronize the work to the latest: no namespace"
    )
    assert not sync.pending


def test_failed_objects_are_listed_with_their_condition() -> None:
    failed = manifest("bad", condition("Applied", "False", 0))
    sick = manifest("sick", condition("Applied", "True", 0), condition("Available", "False", 0))
    good = manifest("good", condition("Applied", "True", 0), condition("Available", "True", 0))

    made = judge(binding(), work(applied="False", available="", manifests=[failed, sick, good]))

    listed = made.to_wire()["failedPlacements"]
    assert [(each["name"], each["condition"]["type"]) for each in listed] == [
        ("bad", "Applied"),
        ("sick", "Available"),
    ]
    assert listed[0].keys() == {"group", "version", "kind", "name", "namespace", "condition"}


def test_lists_are_limited_to_what_a_binding_can_hold() -> None:
    failed = [manifest(f"m{n}", condition("Applied", "False", 0)) for n in range(120)]
    made = judge(binding(), work(applied="False", available="", manifests=failed))
    assert len(made.outcomes.failed) == 100


DRIFT = {
    "observationTime": EARLIER,
    "observedInMemberClusterGeneration": 4,
    "firstDriftedObservedTime": EARLIER,
    "observedDrifts": [{"path": "/spec/replicas", "valueInHub": "1", "valueInMember": "2"}],
}
DIFF = {
    "observationTime": EARLIER,
    "firstDiffedObservedTime": EARLIER,
    "observedDiffs": [{"path": "/", "valueInHub": "(the whole object)"}],
}


def test_drift_is_listed_even_if_everything_is_available() -> None:
    made = judge(binding(), work(manifests=[manifest("m", driftDetails=DRIFT)]))

    (entry,) = made.to_wire()["driftedPlacements"]
    assert entry["targetClusterObservedGeneration"] == 4
    assert entry["observedDrifts"] == DRIFT["observedDrifts"]
    assert made.outcomes.diffed == ()


def test_differences_are_listed_if_applying_failed_or_diffs_were_requested() -> None:
    body = manifest("m", condition("Applied", "False", 0), diffDetails=DIFF)
    refused = judge(binding(), work(applied="False", available="", manifests=[body]))
    asked = judge(binding(strategy="ReportDiff"), diff_report("True", body))

    for made in (refused, asked):
        (entry,) = made.to_wire()["diffedPlacements"]
        assert "targetClusterObservedGeneration" not in entry
        assert entry["observedDiffs"] == DIFF["observedDiffs"]
    assert asked.outcomes.failed == ()


def test_conditions_of_new_content_get_new_times_and_others_keep_theirs() -> None:
    former = condition("Overridden", "True", 1)
    present = condition("WorkSynchronized", "True", 2)

    overridden, synced, *_ = judge(binding(former, present), work()).conditions

    assert overridden.last_transition_time == NOW
    assert format_time(synced.last_transition_time) == EARLIER


def test_an_unchanged_report_is_recognized() -> None:
    started = condition("RolloutStarted", "True", 2)
    made = judge(binding(started), work())
    said = [started, *made.to_wire()["conditions"]]
    assert made.says(binding(*said))
    assert not made.says(binding(started))
    assert not made.says(binding(*said[:-1]))


@pytest.mark.parametrize(
    ("conditions", "is_so"),
    [
        ([], False),
        ([condition("RolloutStarted", "True", 2)], True),
        ([condition("RolloutStarted", "False", 2)], True),
        ([condition("RolloutStarted", "Unknown", 2)], False),
        ([condition("RolloutStarted", "True", 1)], False),
        ([condition("RolloutStarted", "True", 3)], False),
    ],
)
def test_content_is_processed_once_a_rollout_has_announced_it(
    conditions: list[Json], is_so: bool
) -> None:
    assert is_announced(binding(*conditions)) is is_so


def test_a_report_on_earlier_content_does_not_count() -> None:
    assert not is_reported(binding(condition("Overridden", "True", 1)))
    assert is_reported(binding(condition("Overridden", "True", 2)))
