"""How the command line shows runs; the runs in `data/` were recorded on a KubeFleet hub."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from api.reasons import QUEUED
from api.runs import RunState, UpdateRun
from planning import failures
from planning.runs import phases, views
from planning.runs.gates import GateSide
from planning.runs.phases import Phase, Progress
from planning.runs.views import RunView
from starter import tables, words

DATA = Path(__file__).parent / "data"


def recorded(moment: str) -> UpdateRun:
    return UpdateRun.from_wire(yaml.safe_load((DATA / f"{moment}.yaml").read_text()))


def seen(moment: str) -> tuple[RunView, datetime]:
    """Return the view of a recorded run and a time some seconds later."""
    view = views.of(recorded(moment))
    last = max(each.last_transition_time for each in view.conditions)
    return view, last + timedelta(seconds=7)


def sentence(moment: str) -> str:
    return words.sentence(*seen(moment))


@pytest.mark.parametrize(
    ("moment", "phase", "text"),
    [
        ("planned", Phase.PLANNED, "planned, not started"),
        ("first-cluster-in-flight", Phase.RUNNING, "updating member2 in stage staging"),
        ("timed-wait", Phase.WAITING, "waiting for 13s more after stage staging"),
        ("approval-before-canary", Phase.WAITING, "waiting for approval before stage canary"),
        ("approval-after-canary", Phase.WAITING, "waiting for approval after stage canary"),
        ("stopped-at-gate", Phase.STOPPED, "stopped in stage canary"),
        ("stuck", Phase.STUCK, "stuck at member2 in stage staging"),
        ("succeeded", Phase.SUCCEEDED, "succeeded after 74s"),
        (
            "initialization-failed",
            Phase.FAILED,
            "failed: no resourceSnapshots with index `1` found for placement `/example-placement`",
        ),
    ],
)
def test_each_moment_of_a_run_is_one_sentence(moment: str, phase: Phase, text: str) -> None:
    assert phases.phase(recorded(moment).status) is phase
    assert sentence(moment) == text


def test_a_run_that_no_worker_has_seen_says_so() -> None:
    run = recorded("planned")
    run.status.conditions = []
    view = views.of(run)
    assert view.phase is Phase.PENDING
    assert words.sentence(view, datetime.now(UTC)) == "waiting to be planned by a worker"


def test_a_stopping_run_names_what_must_finish_first() -> None:
    run = recorded("first-cluster-in-flight")
    progressing = next(each for each in run.status.conditions if each.type == "Progressing")
    progressing.reason = "UpdateRunStopping"
    view = views.of(run)
    assert view.phase is Phase.STOPPING
    assert words.sentence(view, datetime.now(UTC)) == "stopping, member2 to finish first"


def test_a_queued_run_names_the_run_ahead_and_its_place_in_the_line() -> None:
    run = recorded("first-cluster-in-flight")
    progressing = next(each for each in run.status.conditions if each.type == "Progressing")
    progressing.reason = "UpdateRunQueued"
    progressing.message = QUEUED.fill(run="v1", place="2nd")
    view, now = views.of(run), datetime.now(UTC)
    assert view.phase is Phase.QUEUED
    assert words.sentence(view, now) == "queued, waits for run v1, 2nd in line"
    assert words.phrase(view, now) == words.sentence(view, now)
    assert tables.advice(view) == ["fleetgate run explain example-run"]


def test_a_run_that_is_replaced_names_what_must_finish_first() -> None:
    run = recorded("first-cluster-in-flight")
    progressing = next(each for each in run.status.conditions if each.type == "Progressing")
    progressing.reason = "UpdateRunSuperseded"
    view = views.of(run)
    assert view.phase is Phase.STOPPING
    text = "being replaced by a newer run, member2 to finish first"
    assert words.sentence(view, datetime.now(UTC)) == text


def test_an_unknown_reason_of_a_newer_version_counts_as_running() -> None:
    run = recorded("first-cluster-in-flight")
    progressing = next(each for each in run.status.conditions if each.type == "Progressing")
    progressing.reason = "UpdateRunDancing"
    assert phases.phase(run.status) is Phase.RUNNING


def test_stages_and_clusters_are_listed_in_update_order() -> None:
    view, _ = seen("approval-before-canary")
    assert [
        (stage.name, stage.progress, [(each.name, each.progress) for each in stage.clusters])
        for stage in view.stages
    ] == [
        ("staging", Progress.DONE, [("member2", Progress.DONE)]),
        ("canary", Progress.WAITING, [("member3", Progress.AHEAD), ("member1", Progress.AHEAD)]),
    ]
    assert (view.done, view.total) == (1, 3)


def test_a_pending_approval_comes_with_the_command_that_approves_it() -> None:
    view, _ = seen("approval-before-canary")
    gate = view.gates.approvals[0]
    assert (gate.stage, gate.side, gate.request) == (
        "canary",
        GateSide.BEFORE,
        "example-run-before-canary",
    )
    assert tables.advice(view) == ["fleetgate approve example-run canary --before"]


def test_a_stopped_run_must_be_started_before_it_accepts_an_approval() -> None:
    assert tables.advice(seen("stopped-at-gate")[0]) == ["fleetgate run start example-run-2"]


@pytest.mark.parametrize(
    ("moment", "text"),
    [("planned", "planned, about to start"), ("stopped", "about to resume in stage canary")],
)
def test_a_run_that_was_just_started_does_not_suggest_to_start_it(moment: str, text: str) -> None:
    run = recorded(moment)
    run.spec.state = RunState.RUN
    view = views.of(run)
    assert words.sentence(view, datetime.now(UTC)) == text
    assert tables.advice(view) == []


def test_commands_for_a_namespaced_run_name_its_namespace() -> None:
    run = recorded("planned")
    run.metadata.namespace = "my-app"
    assert tables.advice(views.of(run)) == ["fleetgate run start example-run -n my-app"]


def test_a_failed_cluster_says_why() -> None:
    view, _ = seen("preempted")
    failed = next(each for stage in view.stages for each in stage.clusters if each.message)
    assert failed.name == "member2"
    assert failed.progress is Progress.FAILED
    assert failures.reason(failed.message).startswith(
        "the binding of the updating cluster `member2`"
    )


def test_the_deletion_stage_is_shown_only_when_it_removes_something() -> None:
    run = recorded("first-cluster-in-flight")
    assert [stage.name for stage in views.of(run).stages] == ["staging", "canary"]
    assert run.status.deletion_stage_status is not None
    run.status.deletion_stage_status.clusters = run.status.stages_status[0].clusters
    last = views.of(run).stages[-1]
    assert last.deletes
    assert last.names(Progress.UPDATING) == ["member2"]


def test_a_stop_does_not_change_the_time_left_of_a_timed_wait() -> None:
    run = recorded("timed-wait")
    before = views.of(run).gates.waits[0]
    for condition in run.status.stages_status[0].conditions:
        condition.last_transition_time += timedelta(seconds=9)
    assert views.of(run).gates.waits[0] == before


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (3600, "60m"),
        (5 * 3600, "5h"),
        (3 * 86400, "3d"),
        (-5, "0s"),
    ],
)
def test_ages_are_formatted_like_kubectl(seconds: int, text: str) -> None:
    assert words.age(timedelta(seconds=seconds)) == text


def test_only_changes_are_printed_if_the_output_cannot_be_redrawn() -> None:
    first, _ = seen("first-cluster-in-flight")
    then, now = seen("approval-before-canary")
    assert tables.plain_changes(first, then, now) == [
        "staging/member2 updated in 15s",
        "1/3 waiting for approval before stage canary",
        "  fleetgate approve example-run canary --before",
    ]
    assert tables.plain_changes(then, then, now) == []


def test_a_second_of_a_timed_wait_is_not_a_change() -> None:
    view, now = seen("timed-wait")
    assert tables.plain_changes(view, view, now + timedelta(seconds=1)) == []


@pytest.mark.parametrize(
    ("moment", "command"),
    [
        ("stuck", "fleetgate run explain stuck-run -n my-app"),
        ("preempted", "fleetgate run explain rollback"),
        ("initialization-failed", "fleetgate run explain missing-index"),
    ],
)
def test_a_stuck_or_failed_run_points_to_its_explanation(moment: str, command: str) -> None:
    assert tables.advice(views.of(recorded(moment))) == [command]
