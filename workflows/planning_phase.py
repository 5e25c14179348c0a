"""The first phase of a run: reading the hub, planning the run, choosing the snapshot.

Or, for a run that has a plan already because its workflow was lost with Temporal, adopting it.

contract: update-runs 7
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import FindSnapshot, Survey
    from api.reasons import JoinReason
    from api.runs import RunState, UpdateRunStatus
    from planning.errors import InitializationError, RunAborted
    from planning.policies import reporting
    from planning.policies.reporting import Remembered
    from planning.runs import adopting, initialization, marks, phases, run_events, sizes, stages
    from planning.runs.facts import HubFacts, SnapshotFacts
    from planning.runs.ledger import DELETION
    from planning.runs.membership import Joiner
    from planning.runs.run_events import EventState
    from planning.runs.spec_news import Spec
    from workflows import calls, membership
    from workflows.rollout import Rollout


async def initialize(rollout: Rollout) -> bool:
    """Write the plan to the run's status, or why it cannot be made; return whether it was made."""
    survey = Survey(run=rollout.run, recall=True)
    try:
        surveyed = await calls.effect(stubs.SURVEY, survey, summary="facts for the plan")
        if surveyed.facts is None:
            rollout.lose_run()
            return False
        _take(rollout, surveyed.facts)
        rollout.keep_to(surveyed.remembered.rules, cluster_takes=surveyed.cluster_takes)
        if surveyed.recorded:
            return await _adopt(rollout, surveyed.facts, surveyed.recorded, surveyed.remembered)
        await _plan(rollout, surveyed.facts)
    except InitializationError as error:
        sizes.cut(rollout.ledger.status)
        marks.run_not_initialized(rollout.ledger, str(error), workflow.now())
        return False
    marks.run_initialized(rollout.ledger, workflow.now())
    rollout.position.enter(0 if rollout.strategy.stages else DELETION)
    rollout.take_up_plan()
    return True


def _take(rollout: Rollout, facts: HubFacts) -> None:
    rollout.intent.specs.settle(Spec(facts.generation, facts.spec.state))
    # A message may have reported a newer spec during the survey.
    if facts.generation >= rollout.ledger.generation:
        rollout.ledger.begin_at(facts.generation)
        rollout.intent.want(facts.spec.state)


async def _plan(rollout: Rollout, facts: HubFacts) -> None:
    status = rollout.ledger.status
    targets = initialization.plan(facts, run=rollout.run, status=status, rules=rollout.rules)
    rollout.aim_at(targets, placement=facts.spec.placement_name)
    snapshot = await _find_snapshot(rollout, facts)
    initialization.record_snapshot(snapshot, status=status)
    if not membership.lists_unassigned(rollout):
        return
    for cluster in stages.unassigned(status.stages_status, targets.selected):
        joiner = Joiner(cluster=cluster)
        membership.note_joined(rollout, joiner, JoinReason.UNASSIGNED, workflow.now())


async def _find_snapshot(rollout: Rollout, facts: HubFacts) -> SnapshotFacts:
    request = FindSnapshot(
        run=rollout.run,
        placement=facts.spec.placement_name,
        index=facts.spec.resource_snapshot_index,
        clusters=list(rollout.targets.selected),
    )
    summary = f"snapshot {request.index or 'of the current content'}"
    return await calls.effect(stubs.FIND_SNAPSHOT, request, summary=summary)


# -- a run that has a plan already -----------------------------------------------------------


async def _adopt(
    rollout: Rollout, facts: HubFacts, recorded: UpdateRunStatus, remembered: Remembered
) -> bool:
    """Resume from a recorded status; return whether there is anything to resume."""
    in_flight = phases.all_in_flight(recorded)
    rollout.setbacks.recall(remembered.setbacks, in_flight=in_flight)
    rollout.membership.recall(remembered.moves)
    rollout.notices.reported_by_others(_reported(rollout, recorded, rollout.intent.state))
    if phases.has_ended(recorded):
        # The run ended while this workflow started: its status stays as it is.
        rollout.ledger.keep(recorded)
        return False
    rollout.ledger.recall(recorded)
    try:
        await _recall(rollout, facts, recorded, remembered)
    except RunAborted as error:
        marks.run_failed(rollout.ledger, str(error), workflow.now())
        return False
    rollout.notices.note(run_events.adopted(recorded, now=workflow.now()))
    rollout.take_up_plan()
    return True


async def _recall(
    rollout: Rollout, facts: HubFacts, recorded: UpdateRunStatus, remembered: Remembered
) -> None:
    rollout.aim_at(initialization.bound(facts), placement=facts.spec.placement_name)
    recalled = adopting.recall(recorded, facts)
    rollout.notices.reported_by_others(_reported(rollout, recorded, recalled.desired))
    if recalled.stage != DELETION:
        await _check_snapshot(rollout)
    rollout.position.take_up(recalled)
    rollout.take_up_setbacks(recorded, remembered)
    rollout.take_up_turn(recorded)
    # The guard decides whether the plan still fits the hub, and with the same messages as if the
    # workflow had never been lost.
    rollout.rechecks.request()
    resumed = recalled.desired is RunState.STOP and rollout.intent.state is RunState.RUN
    if resumed and rollout.has_turn:
        marks.run_progressing(rollout.ledger, workflow.now())


def _reported(rollout: Rollout, recorded: UpdateRunStatus, desired: RunState) -> EventState:
    """Return the situation that the lost workflow has reported."""
    set_back = reporting.set_back(recorded, setbacks=rollout.setbacks.noted)
    return run_events.situation(recorded, desired=desired, set_back=set_back)


async def _check_snapshot(rollout: Rollout) -> None:
    index = rollout.ledger.status.resource_snapshot_index_used
    request = FindSnapshot(run=rollout.run, placement=rollout.placement, index=index)
    try:
        await calls.effect(stubs.FIND_SNAPSHOT, request, summary=f"does snapshot {index} exist")
    except InitializationError as error:
        raise RunAborted(str(error)) from error
