"""The first phase of a run: looking at the hub, making the plan, choosing the snapshot.

contract: update-runs 7
"""

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities.requests import FindSnapshot, Survey, Surveyed
    from planning.errors import InitializationError
    from planning.runs import initialization, marks
    from planning.runs.facts import HubFacts, SnapshotFacts
    from planning.runs.ledger import DELETION
    from workflows import calls
    from workflows.rollout import Rollout


async def initialize(rollout: Rollout) -> bool:
    """Fill the run's status with its plan, or with why there is none; says whether there is."""
    survey = Survey(run=rollout.run)
    surveyed = await calls.effect("survey", survey, Surveyed, summary="facts for the plan")
    if surveyed.facts is None:
        rollout.gone = True
        return False
    facts = surveyed.facts
    # A message may have told of a newer spec while the survey was under way.
    if facts.generation >= rollout.ledger.generation:
        rollout.ledger.generation = facts.generation
        rollout.desired = facts.spec.state
    try:
        await _plan(rollout, facts)
    except InitializationError as error:
        marks.run_not_initialized(rollout.ledger, str(error), workflow.now())
        return False
    marks.run_initialized(rollout.ledger, workflow.now())
    rollout.stage = 0 if rollout.strategy.stages else DELETION
    rollout.planned = True
    return True


async def _plan(rollout: Rollout, facts: HubFacts) -> None:
    status = rollout.ledger.status
    rollout.placement = facts.spec.placement_name
    rollout.targets = initialization.plan(facts, run=rollout.run, status=status)
    snapshot = await _find_snapshot(rollout, facts)
    initialization.record_snapshot(snapshot, status=status)


async def _find_snapshot(rollout: Rollout, facts: HubFacts) -> SnapshotFacts:
    request = FindSnapshot(
        run=rollout.run,
        placement=facts.spec.placement_name,
        index=facts.spec.resource_snapshot_index,
        clusters=list(rollout.targets.selected),
    )
    summary = f"snapshot {request.index or 'of the hub as it is'}"
    return await calls.effect("find_snapshot", request, SnapshotFacts, summary=summary)
