"""Clusters that leave or join a run: what the guard does with the changes that it has found.

policies: 2.1 (membership), 3
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from activities import stubs
    from activities.requests import FindSnapshot
    from api.reasons import ClusterReason, JoinReason
    from api.rollout_policies import OnAdded
    from api.rollout_reports import ClusterOutcome
    from api.runs import ClusterStatus
    from planning.overrides.matching import ClusterOverrides
    from planning.policies import texts
    from planning.policies.reporting import Move
    from planning.runs import initialization, marks, phases, sizes
    from planning.runs.cluster_ends import ClusterEnd
    from planning.runs.membership import Changes, Joiner, Leaver
    from planning.runs.phases import Progress
    from planning.runs.validation import Checked
    from workflows import calls
    from workflows.rollout import Rollout

Overrides = Mapping[str, ClusterOverrides]
"""The overrides of clusters, by name."""


def news(rollout: Rollout, changes: Changes) -> Changes:
    """Return the changes that the run does not know of yet."""
    known = rollout.membership
    return Changes(
        left=[each for each in changes.left if not known.has_left(each.cluster)],
        joined=[
            each
            for each in changes.joined
            if not known.is_listed(each.cluster, stage=each.stage)
            and (each.stage or lists_unassigned(rollout))
        ],
    )


def lists_unassigned(rollout: Rollout) -> bool:
    """Return whether the clusters that no stage selects are listed; there may be a thousand.

    A rollback selects its clusters by name, so that nothing is missing if it selects no other.
    """
    return not rollout.rules.rolls_back


def confirmed(first: Changes, second: Changes) -> Changes:
    """Return the changes that two looks in succession have seen."""
    left = frozenset(each.cluster for each in first.left)
    joined = frozenset((each.cluster, each.stage) for each in first.joined)
    return Changes(
        left=[each for each in second.left if each.cluster in left],
        joined=[each for each in second.joined if (each.cluster, each.stage) in joined],
    )


async def overrides_of(rollout: Rollout, joined: Sequence[Joiner]) -> Overrides:
    """Return the overrides of the joiners that will be updated, found as for a new plan.

    Raises:
        InitializationError: a cluster has left the fleet meanwhile, or an override is invalid.
    """
    wanted = [each.cluster for each in joined if _refusal(rollout, each) is None]
    if not wanted:
        return {}
    request = FindSnapshot(
        run=rollout.run,
        placement=rollout.placement,
        index=rollout.ledger.status.resource_snapshot_index_used,
        clusters=wanted,
    )
    found = await calls.effect(stubs.FIND_SNAPSHOT, request, summary="overrides of joined clusters")
    return {each.cluster: each for each in found.overrides}


def apply(rollout: Rollout, checked: Checked, changes: Changes, overrides: Overrides) -> None:
    """Mark clusters that left, add those that joined, and follow the bindings that there are."""
    now, known = workflow.now(), rollout.membership
    known.away = {each.cluster: each for each in checked.changes.left}
    there = frozenset(each.cluster for each in checked.changes.joined)
    for cluster, move in list(known.moves.items()):
        if move.outcome is ClusterOutcome.NOT_UPDATED and cluster not in there:
            known.forget(cluster)
    for leaver in changes.left:
        _leave(rollout, leaver, now)
    room = sizes.room(rollout.ledger.status, targets=checked.targets) if changes.joined else 0
    has_grown = False
    for joiner in changes.joined:
        entry = ClusterStatus(cluster_name=joiner.cluster)
        initialization.record_overrides(entry, overrides.get(joiner.cluster))
        room -= sizes.grown(entry)
        reason = _refusal(rollout, joiner) or (JoinReason.TOO_MANY if room < 0 else None)
        if reason is None:
            rollout.ledger.add_cluster(_stage(rollout, joiner), entry)
            has_grown = True
        note_joined(rollout, joiner, reason or JoinReason.JOINED, now)
    rollout.learn(checked.targets, has_grown=has_grown)


def note_joined(rollout: Rollout, joiner: Joiner, reason: JoinReason, now: datetime) -> None:
    """Record a cluster that the plan does not have, or did not have at first."""
    is_in = reason is JoinReason.JOINED
    move = Move(
        outcome=ClusterOutcome.JOINED if is_in else ClusterOutcome.NOT_UPDATED,
        stage=joiner.stage,
        reason=reason,
        message=texts.joined(reason, stage=joiner.stage),
        since=now,
    )
    rollout.membership.note(joiner.cluster, move)


def _leave(rollout: Rollout, leaver: Leaver, now: datetime) -> None:
    cluster, ledger = leaver.cluster, rollout.ledger
    index, position = ledger.find(cluster)
    if phases.cluster_progress(ledger.cluster(index, position)) is Progress.DONE:
        text = texts.left_updated(leaver)
    else:
        text = texts.left(leaver)
        marks.cluster_left(ledger, index, position, text, now)
    if cluster in rollout.position.in_flight:
        rollout.setbacks.give_up(cluster, ClusterEnd.LEFT)
    move = Move(
        outcome=ClusterOutcome.LEFT,
        stage=leaver.stage,
        reason=ClusterReason.LEFT,
        message=text,
        since=now,
    )
    rollout.membership.note(cluster, move)


def _refusal(rollout: Rollout, joiner: Joiner) -> JoinReason | None:
    """Return why a joiner is left to the next run; None if its stage takes it."""
    if not joiner.stage:
        return JoinReason.UNASSIGNED
    if rollout.rules.added is not OnAdded.APPEND:
        return JoinReason.IGNORED
    return None if rollout.takes_joiners(_stage(rollout, joiner)) else JoinReason.TOO_LATE


def _stage(rollout: Rollout, joiner: Joiner) -> int:
    names = [each.stage_name for each in rollout.ledger.stages]
    return names.index(joiner.stage)
