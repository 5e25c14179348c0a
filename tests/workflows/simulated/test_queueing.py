"""Rollout policies: runs of a placement that queue, refuse or supersede each other.

`SimulatedPlacement` fails each of these tests as soon as two runs have begun at the same time.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import product

import pytest

from api.kinds import ScopeName
from api.reasons import ConditionType
from api.rollout_decisions import Decision, DecisionState
from api.rollout_policies import ConcurrentRuns
from api.runs import RunState
from api.strategies import StageTask
from planning import conditions
from planning.runs.phases import Phase
from tests.workflows.simulated.histories import Limits
from tests.workflows.simulated.simulated_placements import SimulatedPlacement, has_begun
from tests.workflows.simulated.simulated_runs import SimulatedRun, stage
from workflows.queueing import MOST_PATIENCE
from workflows.update_run import LEAST_EVENTS

ALLOW, QUEUE = ConcurrentRuns.ALLOW, ConcurrentRuns.QUEUE
SUPERSEDE, REFUSE = ConcurrentRuns.SUPERSEDE, ConcurrentRuns.REFUSE
APPROVAL = [StageTask(type="Approval")]
Open = Callable[..., SimulatedPlacement]


@pytest.fixture
def placement() -> Iterator[Open]:
    """Make a placement; each of its runs has to replay at the end of the test."""
    opened: list[SimulatedPlacement] = []

    def open_(mode: ConcurrentRuns = QUEUE, **fields: ScopeName) -> SimulatedPlacement:
        opened.append(SimulatedPlacement(mode, **fields))
        return opened[-1]

    yield open_
    for run in (each for one in opened for each in one.runs):
        run.temporal.check_replay()
        run.temporal.evict()


def queued(run: SimulatedRun) -> str:
    """Return what a queued run says."""
    assert run.phase is Phase.QUEUED, run.hub.phases
    assert run.progressing.reason == "UpdateRunQueued"
    return run.progressing.message


def in_line(run: SimulatedRun) -> tuple[int, str] | None:
    """Return the place that the run's report shows."""
    queue = run.hub.reports[-1].queue
    return (queue.position, queue.behind) if queue else None


def admitted(run: SimulatedRun) -> tuple[str, str]:
    """Return status and reason of the condition Admitted."""
    found = conditions.find(run.status.conditions, ConditionType.ADMITTED)
    assert found is not None, "the run has not asked"
    return found.status, found.reason


# -- nothing without a policy ----------------------------------------------------------------


def test_runs_that_may_be_concurrent_ask_nobody(placement: Open) -> None:
    web = placement(ALLOW)
    a = web.begin("a")
    a.until_handed_out("a")
    assert not conditions.find(a.status.conditions, ConditionType.ADMITTED)
    assert a.activities.attempts["read_line"] == 0


def test_a_run_that_nobody_is_ahead_of_costs_one_look_and_no_further_write(
    placement: Open,
) -> None:
    plain, alone = placement(ALLOW).begin("a", takes=5), placement(QUEUE).begin("a", takes=5)
    for run in (plain, alone):
        assert run.outcome().reason == "UpdateRunSucceeded"
    assert alone.activities.attempts["read_line"] == 1
    assert len(alone.activities.writes) <= len(plain.activities.writes) + 1
    assert alone.hub.phases == plain.hub.phases
    assert alone.told == plain.told
    assert admitted(alone) == ("True", "UpdateRunAdmitted")


def test_planning_does_not_queue(placement: Open) -> None:
    web = placement()
    web.begin("a").until_handed_out("a")
    b = web.begin("b", state=RunState.INITIALIZE)
    b.until_phase(Phase.PLANNED)
    web.wait(600)
    assert [each.type for each in b.status.conditions] == ["Initialized"]
    assert b.activities.attempts["read_line"] == 0
    b.resume()
    b.until_phase(Phase.QUEUED)


# -- Queue -----------------------------------------------------------------------------------


@pytest.mark.parametrize("scope", list(ScopeName))
def test_the_second_run_waits_and_begins_by_itself(placement: Open, scope: ScopeName) -> None:
    web = placement(scope=scope)
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b", takes=5)
    b.until_phase(Phase.QUEUED)
    web.wait(3600)
    assert queued(b) == "waits for run a, next in line"
    assert in_line(b) == (1, "a")
    assert b.hub.reports[-1].waiting_for == "run a"
    assert b.activities.handed_out == []
    a.report("a", "b")
    assert a.outcome().reason == "UpdateRunSucceeded"
    ended_at = web.timeline.now
    web.until_begun(b)
    assert web.timeline.now - ended_at < timedelta(seconds=1)
    assert b.outcome().reason == "UpdateRunSucceeded"
    assert in_line(b) is None
    assert b.told == ["Initialized", "Queued", "Admitted", "StageStarted", "Succeeded"]


def test_five_runs_one_deleted_one_stopped(placement: Open) -> None:
    web = placement()
    a, b, c, d, e = (web.begin(name) for name in "abcde")
    web.until_begun(a)
    web.wait(5)
    assert queued(b) == "waits for run a, next in line"
    assert queued(c) == "waits for run a, 2nd in line"
    assert queued(d) == "waits for run a, 3rd in line"
    assert queued(e) == "waits for run a, 4th in line"
    c.delete()
    d.stop()
    web.wait(5)
    assert d.phase is Phase.STOPPED
    assert in_line(d) is None
    assert queued(e) == "waits for run a, 2nd in line"
    a.report("a", "b")
    web.until_begun(b)
    web.wait(1)
    assert queued(e) == "waits for run b, next in line"
    d.resume()
    web.wait(1)
    assert queued(d) == "waits for run b, next in line"
    assert queued(e) == "waits for run b, 2nd in line"
    b.report("a", "b")
    web.until_begun(d)
    assert not has_begun(e)
    d.report("a", "b")
    web.until_begun(e)
    e.report("a", "b")
    for run in (a, b, d, e):
        assert run.outcome().reason == "UpdateRunSucceeded"
    assert c.activities.handed_out == []


def test_a_stopped_run_that_has_begun_holds_its_place(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    a.stop()
    a.report("a")
    a.until_phase(Phase.STOPPED)
    web.wait(86_400)
    assert queued(b) == "waits for run a, next in line"
    a.resume()
    a.until_handed_out("b")
    assert not has_begun(b)


def test_a_run_stopped_before_it_began_holds_nobody(placement: Open) -> None:
    web = placement()
    a = web.begin("a", state=RunState.STOP)
    a.until_phase(Phase.STOPPED)
    b = web.begin("b")
    web.until_begun(b)
    a.resume()
    a.until_phase(Phase.QUEUED)
    assert queued(a) == "waits for run b, next in line"
    web.wait(3600)
    b.report("a", "b")
    web.until_begun(a)


def test_a_run_started_late_waits_for_one_that_has_begun_and_goes_before_others(
    placement: Open,
) -> None:
    web = placement()
    a = web.begin("a", state=RunState.INITIALIZE)
    web.wait(60)
    b, c = web.begin("b"), web.begin("c")
    web.until_begun(b)
    a.resume()
    web.wait(5)
    assert queued(a) == "waits for run b, next in line"
    assert queued(c) == "waits for run b, 2nd in line"
    b.report("a", "b")
    web.until_begun(a)
    assert not has_begun(c)


def test_the_order_is_by_creation_time_and_then_by_name(placement: Open) -> None:
    web = placement()
    first = web.begin("z")
    web.until_begun(first)
    web.wait(10)
    y, x = web.begin("y"), web.begin("x")
    web.wait(5)
    assert queued(x) == "waits for run z, next in line"
    assert queued(y) == "waits for run z, 2nd in line"


def test_without_a_bridge_a_run_looks_by_itself(placement: Open) -> None:
    web = placement()
    web.bridged = False
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    web.wait(86_400)
    looks = b.activities.attempts["read_line"]
    assert looks < 300
    a.report("a", "b")
    a.outcome()
    web.until_begun(b, within=MOST_PATIENCE.total_seconds() + 1)


def test_a_bridge_that_comes_back_wakes_all_that_wait(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    web.wait(3600)
    web.bridged = False
    a.report("a", "b")
    a.outcome()
    web.wait(1)
    web.start_bridge()
    web.until_begun(b, within=1)


def test_a_queued_run_ends_when_it_is_no_longer_valid(placement: Open) -> None:
    web = placement()
    web.begin("a").until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    b.hub.placement = None
    b.changed()
    outcome = b.outcome()
    assert "parent placement not found" in outcome.message
    assert b.stage().conditions == []


def test_a_queued_run_that_is_deleted_ends_even_without_a_bridge(placement: Open) -> None:
    web = placement()
    web.begin("a").until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    b.hub.exists = False
    assert b.outcome().reason == "Gone"


def test_a_queued_run_answers_people(placement: Open) -> None:
    web = placement()
    web.begin("a").until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    answer = b.hub.answers[b.decide(Decision.CONTINUE)]
    assert answer.state is DecisionState.REFUSED
    answer = b.hub.answers[b.decide(Decision.SKIP_CLUSTER, "a")]
    assert answer.state is DecisionState.COUNTED
    sent = b.update("approve")
    assert sent.accepted is False
    assert b.update("pause").failure == ""
    web.wait(1)
    assert b.phase is Phase.STOPPED


def test_what_changed_while_it_waited_is_checked_before_it_begins(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    b.hub.placement = None
    a.report("a", "b")
    assert "parent placement not found" in b.outcome().message
    assert b.activities.handed_out == []


def test_a_run_at_a_gate_holds_its_place(placement: Open) -> None:
    web = placement()
    a = web.begin("a", stage("one", "a", before_stage_tasks=APPROVAL))
    a.until_asked("a-before-one")
    b = web.begin("b")
    web.wait(3600)
    assert queued(b) == "waits for run a, next in line"
    a.approve("a-before-one")
    a.until_handed_out("a")


def test_runs_whose_policy_allows_concurrency_are_waited_for_but_do_not_wait(
    placement: Open,
) -> None:
    web = placement()
    a = web.begin("a", mode=ALLOW)
    a.until_handed_out("a")
    b = web.begin("b")
    web.wait(60)
    assert queued(b) == "waits for run a, next in line"
    a.report("a", "b")
    web.until_begun(b)


# -- runs that look at the same moment -------------------------------------------------------


@pytest.mark.parametrize("mode", [QUEUE, SUPERSEDE, REFUSE])
@pytest.mark.parametrize("slow", list(product([0.02, 0.7], repeat=3)))
def test_of_two_created_in_the_same_second_one_begins(
    placement: Open, mode: ConcurrentRuns, slow: tuple[float, float, float]
) -> None:
    """The run that reads, plans or writes slowly is the older one."""
    web = placement(mode)
    a, b = web.begin("a", takes=5), web.begin("b", takes=5)
    a.activities.takes |= dict(zip(("survey", "read_line", "write_status"), slow, strict=True))
    web.until(lambda: len(web.at_work) == 1, "one has begun")
    outcomes = {run.hub.run.name: run.outcome().reason for run in (a, b)}
    assert (
        outcomes
        == {
            QUEUE: {"a": "UpdateRunSucceeded", "b": "UpdateRunSucceeded"},
            SUPERSEDE: {"a": "UpdateRunSuperseded", "b": "UpdateRunSucceeded"},
            REFUSE: {"a": "UpdateRunSucceeded", "b": "UpdateRunFailed"},
        }[mode]
    )


@pytest.mark.parametrize("delay", [each / 50 for each in range(15)])
def test_one_started_while_another_is_about_to_begin_never_joins_it(
    placement: Open, delay: float
) -> None:
    web = placement()
    a = web.begin("a", state=RunState.INITIALIZE, takes=5)
    a.until_phase(Phase.PLANNED)
    web.wait(30)
    b = web.begin("b", takes=5)
    web.wait(delay)
    a.resume()
    for run in (a, b):
        assert run.outcome().reason == "UpdateRunSucceeded"


@pytest.mark.parametrize("delay", [each / 50 for each in range(12)])
def test_one_stopped_while_it_is_about_to_begin_takes_its_claim_back_or_has_begun(
    placement: Open, delay: float
) -> None:
    web = placement()
    a = web.begin("a")
    web.wait(delay)
    a.stop()
    b = web.begin("b")
    web.wait(60)
    assert a.phase in (Phase.STOPPED, Phase.STOPPING)
    begun = admitted(a)[0] == "True" if a.status.conditions[2:] else False
    assert has_begun(b) is not begun
    a.resume()
    web.wait(60)
    for run in (a, b) if begun else (b, a):
        run.until_handed_out("a")
        run.report("a", "b")
        assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_claim_whose_worker_is_gone_holds_the_others_until_it_is_back(placement: Open) -> None:
    web = placement()
    a = web.begin("a", state=RunState.INITIALIZE)
    a.until_phase(Phase.PLANNED)
    web.wait(30)
    b = web.begin("b", takes=5)
    b.activities.takes["read_line"] = 1
    b.until(lambda: bool(b.status.conditions[1:]), "b claims")
    b.temporal.lose_worker(away=timedelta(seconds=600))
    a.resume()
    web.wait(300)
    assert queued(a) == "waits for run b, next in line"
    assert admitted(a)[0] == "Unknown"
    assert b.activities.handed_out == a.activities.handed_out == []
    web.wait(600)
    assert web.at_work == ["a"]
    a.report("a")
    a.until_handed_out("b")
    a.report("b")
    for run in (a, b):
        assert run.outcome().reason == "UpdateRunSucceeded"


# -- kill -9, lost databases, long histories -------------------------------------------------


@pytest.mark.parametrize("moment", [each / 25 for each in range(10)])
def test_a_worker_lost_while_runs_begin(placement: Open, moment: float) -> None:
    web = placement()
    a, b = web.begin("a", takes=5), web.begin("b", takes=5)
    web.wait(moment)
    a.temporal.lose_worker()
    for run in (a, b):
        assert run.outcome().reason == "UpdateRunSucceeded"


@pytest.mark.parametrize("moment", [each / 25 for each in range(12)])
def test_temporal_lost_while_runs_begin(placement: Open, moment: float) -> None:
    web = placement()
    a, b = web.begin("a", takes=5), web.begin("b", takes=5)
    web.wait(moment)
    a.lose_temporal()
    b.lose_temporal(away=7)
    for run in (a, b):
        assert run.outcome().reason == "UpdateRunSucceeded"


def test_a_queued_run_is_adopted_and_still_waits(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    b.lose_temporal()
    web.wait(60)
    assert queued(b) == "waits for run a, next in line"
    assert in_line(b) == (1, "a")
    a.report("a", "b")
    web.until_begun(b)


def test_a_queued_run_waits_even_if_its_report_is_lost(placement: Open) -> None:
    web = placement()
    web.begin("a").until_handed_out("a")
    b = web.begin("b")
    b.until_phase(Phase.QUEUED)
    b.hub.rules = b.hub.rules.model_copy(update={"concurrent_runs": ALLOW, "fields": []})
    b.lose_temporal()
    web.wait(3600)
    assert queued(b) == "waits for run a, next in line"
    assert b.activities.handed_out == []


def test_a_run_adopted_in_the_middle_does_not_queue_again(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    web.wait(1)
    looks = a.activities.attempts["read_line"]
    a.lose_temporal()
    web.wait(60)
    a.report("a")
    a.until_handed_out("b")
    assert a.activities.attempts["read_line"] == looks


def test_a_run_that_queues_for_days_continues_as_new(placement: Open) -> None:
    web = placement()
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b", limits=Limits(suggest_events=LEAST_EVENTS), takes=5)
    web.wait(86_400)
    assert len(b.temporal.executions) > 2
    assert queued(b) == "waits for run a, next in line"
    assert b.told == ["Initialized", "Queued"]
    a.report("a", "b")
    assert b.outcome().reason == "UpdateRunSucceeded"


# -- Refuse ----------------------------------------------------------------------------------


def test_the_newer_run_is_refused_and_names_the_one_ahead(placement: Open) -> None:
    web = placement(REFUSE)
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    outcome = b.outcome()
    assert outcome.reason == "UpdateRunFailed"
    assert outcome.message.endswith(
        "run a of the same placement is ahead, and the rollout policy refuses concurrent runs"
    )
    assert b.activities.handed_out == []
    assert b.stage().conditions == []
    assert admitted(b) == ("False", "UpdateRunFailed")
    a.report("a", "b")
    assert a.outcome().reason == "UpdateRunSucceeded"
    c = web.begin("c", takes=5)
    assert c.outcome().reason == "UpdateRunSucceeded"


# -- Supersede -------------------------------------------------------------------------------


def superseded(run: SimulatedRun, *, by: str) -> None:
    """Check that a run has ended because of a newer one."""
    outcome = run.outcome()
    assert outcome.reason == "UpdateRunSuperseded"
    assert outcome.message == f"cannot continue the updateRun: run {by} replaces this one"
    assert run.phase is Phase.FAILED


def test_a_superseded_run_finishes_what_is_in_flight(placement: Open) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a", stage("one", "a", "b", "c", max_concurrency=2))
    a.until_handed_out("a", "b")
    web.wait(1)
    b = web.begin("b", takes=5)
    a.until_phase(Phase.STOPPING)
    assert a.progressing.reason == "UpdateRunSuperseded"
    a.report("a")
    web.wait(3600)
    assert queued(b) == "waits for run a, next in line"
    assert a.activities.handed_out == ["a", "b"]
    a.report("b")
    superseded(a, by="b")
    assert a.activities.handed_out == ["a", "b"]
    assert a.updated == ["a", "b"]
    assert a.told[-3:] == ["Superseded", "Stuck", "Failed"]
    assert b.outcome().reason == "UpdateRunSucceeded"


def at_a_gate(run: SimulatedRun) -> None:
    run.until_asked("a-before-one")


def stopped(run: SimulatedRun) -> None:
    run.until_asked("a-before-one")
    run.stop()
    run.until_phase(Phase.STOPPED)


@pytest.mark.parametrize("halt", [at_a_gate, stopped])
def test_a_run_that_is_halted_ends_at_once(
    placement: Open, halt: Callable[[SimulatedRun], None]
) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a", stage("one", "a", before_stage_tasks=APPROVAL))
    halt(a)
    web.wait(60)
    b = web.begin("b", takes=5)
    begun_at = web.timeline.now
    superseded(a, by="b")
    assert web.timeline.now - begun_at < timedelta(seconds=2)
    assert b.outcome().reason == "UpdateRunSucceeded"


def test_runs_that_wait_or_were_stopped_before_they_began_end_too(placement: Open) -> None:
    web = placement(QUEUE)
    a = web.begin("a")
    a.until_handed_out("a")
    b, c, d = web.begin("b"), web.begin("c"), web.begin("d", state=RunState.INITIALIZE)
    web.wait(5)
    c.stop()
    web.wait(5)
    e = web.begin("e", mode=SUPERSEDE, takes=5)
    superseded(b, by="e")
    superseded(c, by="e")
    a.report("a")
    superseded(a, by="e")
    assert a.activities.handed_out == ["a"]
    assert e.outcome().reason == "UpdateRunSucceeded"
    assert d.phase is Phase.PLANNED


def test_a_run_stopped_before_it_began_is_ended_even_if_nothing_else_is_ahead(
    placement: Open,
) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a", state=RunState.STOP)
    a.until_phase(Phase.STOPPED)
    a.lose_temporal(away=60)
    web.wait(10)
    b = web.begin("b", takes=5)
    web.wait(20)
    assert queued(b) == "waits for run a, next in line"
    superseded(a, by="b")
    assert b.outcome().reason == "UpdateRunSucceeded"


def test_an_older_run_whose_workflow_is_missing_is_told_later(placement: Open) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a", stage("one", "a", before_stage_tasks=APPROVAL))
    a.until_asked("a-before-one")
    a.lose_temporal(away=60)
    b = web.begin("b", takes=5)
    web.wait(30)
    assert queued(b) == "waits for run a, next in line"
    superseded(a, by="b")
    assert b.outcome().reason == "UpdateRunSucceeded"


@pytest.mark.parametrize("lost", ["older", "both"])
def test_a_superseded_run_that_is_adopted_starts_nothing(placement: Open, lost: str) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a")
    a.until_handed_out("a")
    web.wait(1)
    b = web.begin("b", takes=5)
    a.until_phase(Phase.STOPPING)
    a.lose_temporal()
    if lost == "both":
        b.lose_temporal()
    web.wait(10)
    a.report("a")
    assert a.outcome().reason == "UpdateRunSuperseded"
    assert a.activities.handed_out == ["a"]
    assert b.outcome().reason == "UpdateRunSucceeded"


def test_a_superseded_run_continues_as_new_and_still_ends(placement: Open) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a", stage("one", "a", "b"), limits=Limits(suggest_events=LEAST_EVENTS))
    a.until_handed_out("a")
    b = web.begin("b", takes=5)
    a.until_phase(Phase.STOPPING)
    web.bridged = False
    while len(a.temporal.executions) < 2:
        a.changed()
        web.wait(2)
    a.report("a")
    superseded(a, by="b")
    assert a.activities.handed_out == ["a"]
    assert b.outcome().reason == "UpdateRunSucceeded"


def test_three_runs_of_which_only_the_newest_is_carried_out(placement: Open) -> None:
    web = placement(SUPERSEDE)
    a = web.begin("a")
    a.until_handed_out("a")
    b = web.begin("b")
    web.wait(5)
    c = web.begin("c", takes=5)
    superseded(b, by="c")
    a.report("a")
    assert a.outcome().reason == "UpdateRunSuperseded"
    assert c.outcome().reason == "UpdateRunSucceeded"
    assert (a.activities.handed_out, b.activities.handed_out) == (["a"], [])
