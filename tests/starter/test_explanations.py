"""An explanation as a whole, and as text and data."""

import io
import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from rich.console import Console

from api.reasons import STARTED_BY_RUN
from api.rollout_reports import ClusterOutcome
from api.runs import UpdateRun
from planning.policies.reporting import Move
from starter.explain.explanations import Explanation
from starter.explain.looks import Evidence
from starter.explain.showing import document, show
from tests.starter.explaining import (
    NOW,
    binding,
    cluster_evidence,
    condition,
    explanation,
    failed,
    run_of,
)
from tests.starter.runs import DATA, recorded

MOMENTS = sorted(each.stem for each in DATA.glob("*.yaml"))
RECORDED = {each: recorded(each) for each in MOMENTS}
BEGUN = (
    condition("Overridden", "True", "NoOverrideSpecified"),
    condition("WorkSynchronized", "True", "AllWorkSynced"),
)
REFUSED = binding(
    *BEGUN,
    condition("Applied", "False", "NotAllWorkHaveBeenApplied", "Work object w has failed to apply"),
    failedPlacements=[failed("ManifestApplyFailed", "exceeded quota: small, requested: pods=1")],
)


def text(found: Explanation) -> str:
    """Return what a person reads, with lines of at most 100 columns."""
    page = io.StringIO()
    show(Console(file=page, width=100, color_system=None), found)
    return page.getvalue()


def with_trouble(moment: str) -> Explanation:
    """Explain a run whose cluster member2 cannot be updated."""
    evidence = Evidence(clusters={"member2": cluster_evidence(REFUSED)})
    return explanation(run_of(moment), evidence)


def test_troubles_before_the_limit_are_shown_without_alarm() -> None:
    found = with_trouble("first-cluster-in-flight")
    expected = "No action is needed yet: the problems below may resolve themselves."
    assert found.situation.acts == expected
    assert "The resource quota small on the member is used up." in text(found)


def test_commands_that_inspect_come_before_commands_that_act() -> None:
    assert with_trouble("stuck").commands == (
        "kubectl describe deployment web -n shop  # on member2",
        "kubectl get pods -n shop  # on member2",
        "fleetgate rollback web-app-placement -n my-app",
    )


def test_bindings_that_may_not_be_read_are_mentioned_and_no_trouble_is_made_up() -> None:
    unread = ("resourcebindings", "memberclusters")
    found = explanation(run_of("stuck"), Evidence(unread=unread))
    assert [each.troubles for each in found.clusters] == [()]
    assert "You may not read resourcebindings, memberclusters;" in text(found)


@pytest.mark.parametrize("run", ["rollback", "later"])
def test_what_other_runs_did_after_a_run_ended_is_left_out(run: str) -> None:
    """Cluster member3 was in flight when the run failed."""

    def in_flight(run: UpdateRun) -> None:
        rows = run.status.stages_status
        rows[1].clusters[0].conditions = rows[0].clusters[0].conditions[:1]

    refused = REFUSED.model_copy(deep=True)
    refused.status.conditions[0].message = STARTED_BY_RUN.fill(index=1, run=run)
    evidence = Evidence(clusters={"member3": cluster_evidence(refused)})
    *_, report = explanation(run_of("preempted", in_flight), evidence).clusters
    assert report.row.name == "member3"
    assert bool(report.troubles) == (run == "rollback")


def test_other_clusters_are_counted_by_their_step() -> None:
    steps = ("Available is False",) * 8 + ("Applied is False",) * 2 + ("",)
    evidence = Evidence(clusters={"member2": cluster_evidence(REFUSED)}, steps=steps)
    found = explanation(run_of("stuck"), evidence)
    assert "and 11 more clusters in flight: 8 where Available is False, 2 where Applied is" in (
        text(found)
    )
    assert document(found)["moreClusters"] == {
        "Available is False": 8,
        "Applied is False": 2,
        "unknown": 1,
    }


@pytest.mark.parametrize("moment", MOMENTS)
def test_each_moment_fits_a_screen_and_can_be_read_by_programs(moment: str) -> None:
    found = explanation(run_of(moment))
    shown, _, commands = text(found).partition("Next:\n")
    assert len(shown.splitlines()) <= 16
    assert max(map(len, shown.splitlines())) <= 100
    assert all(line.startswith(("  fleetgate ", "  kubectl ")) for line in commands.splitlines())
    assert json.loads(json.dumps(document(found)))["name"] == found.view.name


def test_clusters_that_left_or_joined_are_named() -> None:
    def moved(outcome: ClusterOutcome, reason: str) -> Move:
        return Move(outcome=outcome, stage="canary", reason=reason, message="why", since=NOW)

    moves = {
        "member7": moved(ClusterOutcome.LEFT, "ClusterLeft"),
        "member8": moved(ClusterOutcome.JOINED, "ClusterJoined"),
        "member9": moved(ClusterOutcome.NOT_UPDATED, "ClusterJoinedTooLate"),
    }
    found = explanation(run_of("stuck"), Evidence(moves=moves))
    shown = text(found)
    for line in (
        "Left the run: member7.",
        "Joined the run: member8.",
        "Picked, but left to the next run: member9.",
    ):
        assert line in shown
    assert [(each["name"], each["reason"]) for each in document(found)["moves"]] == [
        ("member7", "ClusterLeft"),
        ("member8", "ClusterJoined"),
        ("member9", "ClusterJoinedTooLate"),
    ]


def parts(value: Any) -> list[tuple[dict[str, Any], str]]:
    """Return every field of a JSON value, with the object that it is in."""
    if isinstance(value, list):
        return [each for item in value for each in parts(item)]
    if not isinstance(value, dict):
        return []
    own = [(value, key) for key in value]
    return own + [each for item in value.values() for each in parts(item)]


@settings(deadline=None)
@given(st.sampled_from(MOMENTS), st.sets(st.integers(min_value=0, max_value=200), max_size=5))
def test_a_status_with_missing_fields_is_explained_as_far_as_possible(
    moment: str, holes: set[int]
) -> None:
    run = deepcopy(RECORDED[moment])
    fields = parts(run["status"])
    for hole in holes:
        holder, field = fields[hole % len(fields)]
        holder.pop(field, None)
    try:
        read = UpdateRun.from_wire(run)
    except ValidationError:
        reject()
    found = explanation(read)
    assert text(found)
    assert document(found)["phase"] == found.view.phase
