"""Which gate is chosen, how a rollback names its run, and who is recorded."""

from datetime import UTC, datetime

import pytest

from api.runs import UpdateRun
from planning.identity import LONGEST_NAME
from planning.runs import views
from planning.runs.gates import GateSide
from starter import approve, people
from starter.failures import CommandFailure
from starter.rollback.command import Asked, name_of, others_active
from tests.starter.test_views import recorded
from workflows.messages import Approve


def at_two_gates() -> UpdateRun:
    """Return a run in a state that no engine produces: it waits before and after a stage."""
    run = recorded("approval-after-canary")
    task = run.status.stages_status[1].before_stage_task_status[0]
    task.conditions = [each for each in task.conditions if each.type == "ApprovalRequestCreated"]
    return run


@pytest.mark.parametrize(
    "wanted", [Approve(), Approve(stage="canary"), Approve(side=GateSide.BEFORE)]
)
def test_the_only_open_gate_is_chosen(wanted: Approve) -> None:
    gate = approve.choose(views.of(recorded("approval-before-canary")), wanted)
    assert gate is not None
    assert str(gate) == "approval before stage canary"


def test_of_several_open_gates_one_must_be_specified() -> None:
    view = views.of(at_two_gates())
    with pytest.raises(
        CommandFailure, match="several approvals; specify stage and side"
    ) as refused:
        approve.choose(view, Approve(stage="canary"))
    assert "fleetgate approve example-run canary --before" in refused.value.advice
    assert "fleetgate approve example-run canary --after" in refused.value.advice
    gate = approve.choose(view, Approve(side=GateSide.AFTER))
    assert gate is not None
    assert gate.side is GateSide.AFTER


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (
            Approve(stage="prod"),
            "is not waiting for an approval at stage prod; it is waiting for: ",
        ),
        (
            Approve(stage="canary", side=GateSide.AFTER),
            "is not waiting for an approval after stage canary;",
        ),
        (Approve(side=GateSide.AFTER), "is not waiting for an approval after any stage;"),
    ],
)
def test_a_gate_that_is_not_open_is_not_chosen(wanted: Approve, text: str) -> None:
    view = views.of(recorded("approval-before-canary"))
    assert approve.choose(view, wanted) is None
    assert text in str(approve.none_open(view, wanted))


@pytest.mark.parametrize(
    ("placement", "taken", "made"),
    [
        ("web", [], "web-rollback-3"),
        ("web", ["web-rollback-3", "web-rollback-3-2"], "web-rollback-3-3"),
        ("w" * 80, [], "w" * 52 + "-rollback-3"),
        ("w" * 51 + "." + "w" * 20, [], "w" * 51 + "-rollback-3"),
    ],
)
def test_a_run_gets_a_free_name_that_is_short_enough(
    placement: str, taken: list[str], made: str
) -> None:
    assert name_of(Asked(placement), "3", taken) == made
    assert len(made) <= LONGEST_NAME
    assert name_of(Asked(placement, name="mine"), "3", taken) == "mine"


def test_each_other_active_run_is_named_with_the_command_that_stops_it() -> None:
    now = datetime.now(UTC)
    refusal = others_active([recorded("first-cluster-in-flight"), recorded("stuck")], now)
    assert "run example-run: updating member2 in stage staging" in str(refusal)
    assert refusal.advice.count("fleetgate run stop ") == 2


@pytest.mark.parametrize(
    ("user", "by", "recorded_as"),
    [
        ("jo", None, "jo"),
        ("jo", "jo", "jo"),
        ("jo", "kim", "jo on behalf of kim"),
        ("", "kim", "an unknown user on behalf of kim"),
        ("", None, ""),
    ],
)
def test_a_user_cannot_sign_as_someone_else(user: str, by: str | None, recorded_as: str) -> None:
    assert people.signature(user, by) == recorded_as
