"""Where a run is, why it waits and who must act, from its status alone."""

from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from rich.console import Console

from api import reasons
from api.base import Condition
from api.names import ROLLBACK_OF
from api.runs import ClusterStatus, RunState, UpdateRun
from planning import conditions, failures
from planning.runs import views
from starter import tables
from starter.explain import showing
from starter.explain.looks import Attention, Evidence
from starter.run.showing import print_view
from tests.starter.explaining import (
    NOW,
    as_recorded,
    condition,
    explanation,
    request,
    run_of,
    situation,
)

PERSON, WORKER, NOBODY = Attention.PERSON, Attention.WORKER, Attention.NOBODY
REQUEST = "example-run-before-canary"


@pytest.mark.parametrize(
    ("moment", "attention", "says", "command"),
    [
        (
            "planned",
            PERSON,
            "Planned 7s ago and not started: 3 clusters in 2 stages. No cluster has been touched.",
            "fleetgate run start example-run",
        ),
        (
            "first-cluster-in-flight",
            NOBODY,
            "Updating member2 in stage staging (1 of 2), for 7s so far. 0 of 3 clusters are done.",
            "",
        ),
        (
            "timed-wait",
            NOBODY,
            (
                "Waiting until 02:09:42 UTC (13s left), after stage staging. 1 of 3 clusters are "
                "done."
            ),
            "",
        ),
        (
            "approval-before-canary",
            PERSON,
            (
                "Waiting for the approval before stage canary, for 7s so far. 1 of 3 clusters are "
                "done."
            ),
            "fleetgate approve example-run canary --before",
        ),
        (
            "approval-after-canary",
            PERSON,
            (
                "Waiting for the approval after stage canary, for 7s so far. 3 of 3 clusters are "
                "done."
            ),
            "fleetgate approve example-run canary --after",
        ),
        (
            "stopped-at-gate",
            PERSON,
            (
                "Stopped 7s ago in stage canary (2 of 2). 1 of 3 clusters are done. "
                "Once resumed, it waits for the approval before stage canary."
            ),
            "fleetgate run start example-run-2",
        ),
        (
            "stuck",
            PERSON,
            (
                "Stuck: member2 in stage staging (1 of 2), in flight for 5m50s, longer than the "
                "limit. 0 of 3 clusters are done."
            ),
            "fleetgate rollback web-app-placement -n my-app",
        ),
        (
            "preempted",
            PERSON,
            "Failed 7s ago. It ended in stage staging (1 of 2). 0 of 3 clusters are done.",
            "fleetgate run list",
        ),
        (
            "initialization-failed",
            PERSON,
            "Failed 7s ago. It could not be planned; no cluster was touched.",
            (
                "kubectl get clusterresourcesnapshots -l kubernetes-fleet.io/parent-CRP="
                "example-placement -L kubernetes-fleet.io/resource-index"
            ),
        ),
        (
            "succeeded",
            NOBODY,
            "Succeeded 7s ago, 74s after it was created. 3 of 3 clusters are done.",
            "",
        ),
    ],
)
def test_each_moment_says_where_it_is_and_who_must_act(
    moment: str, attention: Attention, says: str, command: str
) -> None:
    found = situation(moment)
    assert " ".join(found.says) == says
    assert found.attention is attention
    assert (found.acts.startswith("No action is needed.")) == (attention is NOBODY)
    assert next(iter(found.commands), "") == command


@pytest.mark.parametrize(
    ("moment", "since"),
    [
        ("planned", "02:09:04"),
        ("first-cluster-in-flight", "02:09:07"),
        ("timed-wait", "02:09:22"),
        ("approval-before-canary", "02:09:42"),
        ("stuck", "02:13:38"),
    ],
)
def test_each_moment_says_since_when(moment: str, since: str) -> None:
    found = situation(moment).since
    assert found
    assert f"{found:%H:%M:%S}" == since


# -- runs that wait for others, or are replaced ----------------------------------------------


def said_by(reason: str, message: str) -> Callable[[UpdateRun], None]:
    def change(run: UpdateRun) -> None:
        (found,) = [each for each in run.status.conditions if each.type == "Progressing"]
        found.reason, found.message = reason, message

    return change


def test_a_queued_run_begins_by_itself_and_says_what_can_be_done() -> None:
    message = reasons.QUEUED.fill(run="v1", place="2nd")
    found = situation("planned", queued(message))
    assert found.says == (
        "Queued 7s ago: it waits for run v1, 2nd in line. No cluster has been touched.",
    )
    assert found.attention is NOBODY
    assert found.acts.startswith("No action is needed. It begins by itself.")
    assert found.commands == (
        "fleetgate run list  # what the other runs of the placement do",
        "fleetgate run stop example-run",
    )


def queued(message: str) -> Callable[[UpdateRun], None]:
    def change(run: UpdateRun) -> None:
        run.spec.state = RunState.RUN
        said = run.status.conditions[0].model_copy(
            update={"type": "Progressing", "status": "False", "reason": "UpdateRunQueued"}
        )
        run.status.conditions.append(said.model_copy(update={"message": message}))

    return change


def test_a_run_that_is_replaced_cannot_be_started_again() -> None:
    text = reasons.SUPERSEDING.fill(run="run v3")
    found = situation("first-cluster-in-flight", said_by("UpdateRunSuperseded", text))
    assert found.says[0].startswith("Ending, because a newer run replaces it.")
    assert "It ends once member2 in stage staging (1 of 2) has finished" in found.acts
    assert found.message == text
    assert found.commands == ()


# -- runs that no worker drives --------------------------------------------------------------


def unseen(run: UpdateRun) -> None:
    """Make the run one that no worker has seen."""
    run.status.conditions = []
    run.status.stages_status = []
    run.metadata.finalizers = []


def seen(run: UpdateRun) -> None:
    """Make the run one that a worker has seen, but not planned."""
    finalizers = run.metadata.finalizers
    unseen(run)
    run.metadata.finalizers = finalizers


def progressing(run: UpdateRun) -> Condition:
    found = conditions.find(run.status.conditions, "Progressing")
    assert found
    return found


def asked_to_stop(run: UpdateRun) -> None:
    """Set spec.state with kubectl shortly after the run got stuck."""
    run.spec.state = RunState.STOP
    run.metadata.generation += 1
    assert run.metadata.model_extra is not None
    run.metadata.model_extra["managedFields"] = [
        {
            "manager": "kubectl-patch",
            "time": progressing(run).last_transition_time.isoformat(),
            "fieldsV1": {"f:spec": {"f:state": {}}},
        }
    ]


def between_stages(run: UpdateRun) -> None:
    """Make the first stage done and the second not started, with no gate closed."""
    found = progressing(run)
    found.reason, found.status = "UpdateRunProgressing", "True"  # type: ignore[assignment]
    run.status.stages_status[0].conditions.append(
        found.model_copy(update={"type": "Succeeded", "reason": "StageUpdatingSucceeded"})
    )


def to_run(run: UpdateRun) -> None:
    """Set spec.state to Run, with a status that reflects it."""
    run.spec.state = RunState.RUN


MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize(
    ("moment", "change", "after", "says"),
    [
        (
            "planned",
            unseen,
            MINUTE,
            "Created 60s ago and not planned yet. No worker has picked it up",
        ),
        ("planned", seen, MINUTE, "not planned yet, although a worker has seen it"),
        ("timed-wait", as_recorded, MINUTE, "The wait after stage staging has been over for 40s."),
        ("stuck", asked_to_stop, MINUTE, "spec.state was set to Stop with kubectl-patch 60s ago"),
        ("planned", to_run, MINUTE, "It was due to start 60s ago"),
        ("stopped-at-gate", to_run, MINUTE, "It was due to resume 60s ago"),
        ("timed-wait", between_stages, MINUTE, "Nothing has happened for 60s"),
    ],
)
def test_it_is_reported_what_a_worker_should_have_done_long_ago(
    moment: str, change: Callable[[UpdateRun], object], after: timedelta, says: str
) -> None:
    found = situation(moment, change, after=after)
    assert says in " ".join(found.says)
    assert "fleetgate worker --run engine,bridge" in found.commands
    assert found.attention is WORKER
    soon = situation(moment, change, after=timedelta(seconds=2))
    assert soon.attention is not WORKER, "a worker takes a moment"


def test_an_approval_that_no_worker_processed_is_reported() -> None:
    given = condition("Approved", "True", "lgtm", generation=1)
    evidence = Evidence(approvals={REQUEST: request(REQUEST, given)})
    found = situation("approval-before-canary", evidence=evidence)
    assert found.attention is WORKER
    expected = "The approval before stage canary was given, but no worker has processed it."
    assert expected in found.says


def test_an_approval_given_just_now_needs_no_action() -> None:
    run = run_of("approval-before-canary")
    now = progressing(run).last_transition_time
    given = condition("Approved", "True", "lgtm", generation=1)
    given["lastTransitionTime"] = now.isoformat()
    evidence = Evidence(approvals={REQUEST: request(REQUEST, given)})
    assert situation("approval-before-canary", evidence=evidence).attention is NOBODY


def test_an_approval_that_does_not_count_is_explained() -> None:
    given = condition("Approved", "True", "lgtm", generation=7)
    evidence = Evidence(approvals={REQUEST: request(REQUEST, given)})
    found = situation("approval-before-canary", evidence=evidence)
    assert found.attention is PERSON
    assert found.says[1] == (
        "The approval does not count: its condition Approved has observedGeneration 7, but the "
        "generation of the request is 1."
    )


def test_kubectl_approves_for_the_generation_of_the_request() -> None:
    evidence = Evidence(approvals={REQUEST: request(REQUEST, generation=2)})
    found = situation("approval-before-canary", evidence=evidence)
    _, command = found.commands
    assert command.startswith(f"kubectl patch clusterapprovalrequests {REQUEST} ")
    assert '"observedGeneration":2' in command


def test_a_wait_that_ends_on_another_day_names_the_day() -> None:
    def long(run: UpdateRun) -> None:
        strategy = run.status.staged_update_strategy_snapshot
        assert strategy
        (task,) = strategy.stages[0].after_stage_tasks
        task = task.model_copy(update={"wait_time": "24h0m0s"})
        stage = strategy.stages[0].model_copy(update={"after_stage_tasks": [task]})
        strategy.stages[0] = stage

    assert "until 2026-11-22 02:09:22 UTC (23h left)" in situation("timed-wait", long).says[0]


# -- less common moments ----------------------------------------------------------------------


def test_a_stuck_run_that_was_asked_to_stop_says_why_it_does_not() -> None:
    found = situation("stuck", lambda run: setattr(run.spec, "state", RunState.STOP))
    assert found.says[-1] == "It was asked to stop, but cannot while clusters are in flight."


def test_clusters_are_stuck_that_the_message_does_not_name() -> None:
    """The message names three; whether another one is stuck follows from when it was started."""

    def many(run: UpdateRun) -> None:
        (stage, *_), stuck = run.status.stages_status, progressing(run)
        first = stage.clusters[0]
        since_started = {"a": 25, "b": 22, "c": 21, "d": 20, "late": 1}
        stage.clusters = [
            first.model_copy(
                update={"cluster_name": name, "conditions": [started(first, stuck, seconds)]}
            )
            for name, seconds in since_started.items()
        ]
        stuck.message = reasons.stuck(["a", "b", "c", "d"], stage=stage.stage_name)

    said = situation("stuck", many, after=timedelta(seconds=6)).says[0]
    assert said.startswith("Stuck: a, b, c and 1 more in stage staging")


def started(cluster: ClusterStatus, stuck: Condition, seconds: int) -> Condition:
    """Return the condition of a cluster that was started so long before the run became stuck."""
    (found,) = cluster.conditions
    at = stuck.last_transition_time - timedelta(seconds=seconds)
    return found.model_copy(update={"last_transition_time": at})


def test_a_stopping_run_names_what_must_finish_first_and_the_tool_that_stopped_it() -> None:
    def stopping(run: UpdateRun) -> None:
        progressing(run).reason = "UpdateRunStopping"
        asked_to_stop(run)
        run.metadata.generation -= 1

    found = situation("first-cluster-in-flight", stopping)
    assert found.says[0].startswith(
        "Stopping with kubectl-patch: member2 in stage staging (1 of 2) must finish first"
    )
    assert found.attention is NOBODY


def test_a_run_that_removes_clusters_says_so() -> None:
    def removing(run: UpdateRun) -> None:
        for stage in run.status.stages_status:
            stage.conditions.append(
                progressing(run).model_copy(
                    update={"type": "Succeeded", "reason": "StageUpdatingSkippedNoClusters"}
                )
            )
        deletion = run.status.deletion_stage_status
        assert deletion
        deletion.clusters = run.status.stages_status[0].clusters
        run.status.stages_status[0].clusters = []

    found = situation("first-cluster-in-flight", removing)
    assert found.says[0].startswith("Removing what is on member2 in the stage that removes")
    assert found.attention is NOBODY
    later = situation("first-cluster-in-flight", removing, after=timedelta(minutes=10))
    assert later.attention is PERSON


@pytest.mark.parametrize(("after", "attention"), [(2, NOBODY), (60, WORKER)])
def test_a_run_that_is_being_deleted_says_so(after: int, attention: Attention) -> None:
    def deleted(run: UpdateRun) -> None:
        run.metadata.deletion_timestamp = progressing(run).last_transition_time

    found = situation("timed-wait", deleted, after=timedelta(seconds=after))
    assert found.says[0].startswith("Being deleted")
    assert found.attention is attention


def test_a_failed_run_says_what_it_left_behind() -> None:
    def later(run: UpdateRun) -> None:
        canary = run.status.stages_status[1].clusters[0]
        canary.conditions = [
            progressing(run).model_copy(update={"type": "Started", "status": "True"})
        ]

    found = situation("preempted", later)
    assert "member3 had started to update." in found.says[0]
    assert found.message.startswith("the binding of the updating cluster `member2`")
    assert "The binding of cluster member2 was changed" in found.cause


def test_a_run_that_its_policy_rolls_back_names_the_other_run() -> None:
    def rolled_back(run: UpdateRun) -> None:
        run.status.conditions[-1].message = str(
            failures.ROLLED_BACK.error(
                failed=1,
                clusters=1,
                among="of stage staging",
                limit="rollout policy guard allows 0 (failures.most)",
                names="member2",
                rollback="v2-rollback",
                back="1 cluster",
                index=0,
            )
        )

    found = situation("preempted", rolled_back)
    assert "Run v2-rollback takes its clusters back." in found.says[0]
    assert found.acts == "Someone has to find out why the clusters failed. This run is over."
    assert found.commands == ("fleetgate run watch v2-rollback",)
    view = views.of(run_of("preempted", rolled_back))
    assert view.rolled_back_by == "v2-rollback"
    assert tables.advice(view)[-1] == "fleetgate run watch v2-rollback"


def test_a_rollback_names_the_run_that_it_rolls_back() -> None:
    run = run_of("succeeded")
    run.metadata.annotations[ROLLBACK_OF] = "v2"
    printed = StringIO()
    console = Console(file=printed, width=100)
    showing.show(console, explanation(run))
    print_view(console, views.of(run), NOW)
    text = printed.getvalue()
    assert "It rolls back run v2." in text
    assert "rolls back run v2\n" in text
