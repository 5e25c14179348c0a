"""The overview of a run in the Temporal UI."""

import pytest

from api.runs import RunState, UpdateRunStatus
from planning.identity import RunRef
from planning.runs import marks, overview
from planning.runs.gates import GateSide, PendingApproval
from planning.runs.ledger import DELETION, Ledger
from tests.planning.run_samples import (
    CLUSTER_RUN,
    NOW,
    binding,
    both_scopes,
    cluster,
    facts,
    ledger,
    planned,
    stage,
)

RUN, STOP = RunState.RUN, RunState.STOP


def shown(
    book: Ledger,
    *approvals: PendingApproval,
    desired: RunState = RUN,
    run: RunRef = CLUSTER_RUN,
) -> list[str]:
    """Return the lines, without what is only for their layout in the UI."""
    text = overview.markdown(book.status, run=run, desired=desired, approvals=approvals)
    return text.replace(overview.GAP, "").removesuffix(f"\n\n{overview.NOTHING}").splitlines()


def test_a_run_that_is_not_initialized_says_so() -> None:
    book = Ledger(UpdateRunStatus(), generation=1)
    lines = [line for line in shown(book, desired=RunState.INITIALIZE) if line]
    assert lines == ["**Not initialized yet**"]


def test_a_run_that_cannot_be_planned_shows_why() -> None:
    book = Ledger(UpdateRunStatus(), generation=1)
    marks.run_not_initialized(book, "the whole text", NOW)
    assert shown(book)[0] == "**the whole text**"


@both_scopes
def test_a_run_that_waits_says_first_what_a_person_has_to_do(run: RunRef, ns: str) -> None:
    book = ledger()
    marks.run_initialized(book, NOW)
    marks.waiting(book, 0, "before", NOW)
    approval = PendingApproval(request="v2-before-prod", stage="prod", side=GateSide.BEFORE)
    command = "fleetgate approve v2 prod --before" + (f" -n {ns}" if ns else "")
    update = 'or send the update `approve` with `{"stage": "prod", "side": "before"}`.'
    assert shown(book, approval, run=run) == [
        "**The updateRun is waiting for before-stage tasks in stage prod to complete**",
        "",
        f"Waiting for approval of `v2-before-prod`: run `{command}`, {update}",
        "",
        "| stage | clusters done | in flight | state |",
        "| --- | --- | --- | --- |",
        "| prod | 0 of 2 |  | waiting |",
    ]


def test_the_ui_does_not_cut_off_the_last_row() -> None:
    book = ledger()
    text = overview.markdown(book.status, run=CLUSTER_RUN, desired=RUN, approvals=[])
    assert text.splitlines()[-1] == overview.NOTHING


def test_a_planned_run_says_how_to_start_it() -> None:
    book = ledger()
    marks.run_initialized(book, NOW)
    lines = shown(book, desired=RunState.INITIALIZE)
    assert (
        "Planned, not started: to start, send the signal `resume` or set spec.state to Run."
        in lines
    )


def test_a_stopped_run_says_how_to_resume_it() -> None:
    lines = shown(ledger(), desired=STOP)
    assert any("send the signal `resume` or set spec.state to Run" in line for line in lines)


def test_a_stage_shows_what_is_done_and_what_is_in_flight() -> None:
    book = ledger(stage(), stage("later", "dev"), leaving=("c",))
    marks.cluster_started(book, 0, 0, NOW)
    marks.cluster_succeeded(book, 0, 0, NOW)
    marks.cluster_started(book, 0, 1, NOW)
    marks.stage_started(book, 0, NOW)
    assert shown(book)[-3:] == [
        "| prod | 1 of 2 | b | updating |",
        "| later | 0 of 0 |  |  |",
        "| kubernetes-fleet.io/deleteStage | 0 of 1 |  |  |",
    ]


@pytest.mark.parametrize(("flying", "named"), [(3, "c0, c1, c2"), (4, "c0, c1, c2…")])
def test_only_three_of_many_clusters_in_flight_are_named(flying: int, named: str) -> None:
    names = [f"c{number}" for number in range(5)]
    known = facts(bindings=list(map(binding, names)), clusters=list(map(cluster, names)))
    book = Ledger(planned(known), generation=1)
    for position in range(flying):
        marks.cluster_started(book, 0, position, NOW)
    assert shown(book)[-1] == f"| prod | 0 of 5 | {named} |  |"


def test_the_end_of_a_run_is_its_headline() -> None:
    book = ledger()
    marks.stage_started(book, DELETION, NOW)
    marks.run_succeeded(book, NOW)
    assert overview.headline(book.status) == "All stages are completed successfully"
