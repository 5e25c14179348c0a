"""A run in words and as a table, for people who look at it from outside."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.reasons import ConditionType
from api.runs import ClusterStatus, RunState, StageStatus, UpdateRunStatus
from planning import conditions
from planning.identity import RunRef
from planning.runs.approval_events import approve_command
from planning.runs.tasks import Side

GAP: Final = "\u2003"
"""Between columns, which the UI sets next to each other without any space or line."""
NOTHING: Final = "\u00a0"
"""Stands at the end: the UI gives the text a frame that is a line too short."""


@dataclass(frozen=True, slots=True)
class AwaitedApproval:
    """An approval that a person has to give."""

    request: str
    """Name of the (Cluster)ApprovalRequest."""
    stage: str
    side: Side


def markdown(
    status: UpdateRunStatus,
    *,
    run: RunRef,
    desired: RunState,
    approvals: Sequence[AwaitedApproval],
) -> str:
    """What the Temporal UI shows as a run's current details; what has to be done comes first."""
    lines = [f"**{headline(status)}**"]
    lines += [_to_approve(each, run) for each in approvals]
    if desired is RunState.INITIALIZE and status.stages_status:
        lines.append("Planned, not started: send the signal `resume` or set spec.state to Run.")
    if desired is RunState.STOP:
        lines.append("Asked to stop: send the signal `resume` or set spec.state to Run to go on.")
    return "\n\n".join([*lines, _table(status), NOTHING])


def _to_approve(approval: AwaitedApproval, run: RunRef) -> str:
    stage, side = approval.stage, approval.side
    command = approve_command(run=run.name, stage=stage, side=side, namespace=run.namespace)
    return (
        f"Waiting for a person to approve `{approval.request}`: type `{command}`, or send the "
        f'update `approve` with `{{"stage": "{stage}", "side": "{side}"}}`.'
    )


def headline(status: UpdateRunStatus) -> str:
    """The message of the condition that says most about where the run is."""
    for kind in (ConditionType.SUCCEEDED, ConditionType.PROGRESSING, ConditionType.INITIALIZED):
        if found := conditions.find(status.conditions, kind):
            return found.message
    return "Not initialized yet"


def done(stage: StageStatus) -> int:
    """How many clusters of a stage have succeeded."""
    # Asked with every change: of a thousand clusters, most need no look.
    if conditions.has(stage.conditions, ConditionType.SUCCEEDED):
        return len(stage.clusters)
    return sum(
        conditions.has(cluster.conditions, ConditionType.SUCCEEDED) for cluster in _begun(stage)
    )


def in_flight(stage: StageStatus) -> list[str]:
    """Clusters of a stage that were started and have neither succeeded nor failed."""
    if conditions.has(stage.conditions, ConditionType.SUCCEEDED):
        return []
    return [
        cluster.cluster_name
        for cluster in _begun(stage)
        if conditions.has(cluster.conditions, ConditionType.STARTED)
        and conditions.find(cluster.conditions, ConditionType.SUCCEEDED) is None
    ]


def _begun(stage: StageStatus) -> list[ClusterStatus]:
    return [cluster for cluster in stage.clusters if cluster.conditions]


def _table(status: UpdateRunStatus) -> str:
    stages = list(status.stages_status)
    if status.deletion_stage_status and status.deletion_stage_status.clusters:
        stages.append(status.deletion_stage_status)
    if not stages:
        return ""
    rows = [_line("stage", "clusters done", "in flight", "state"), "| --- | --- | --- | --- |"]
    return "\n".join(rows + [_row(stage) for stage in stages])


_NAMED = 3


def _row(stage: StageStatus) -> str:
    flying = in_flight(stage)
    names = ", ".join(flying[:_NAMED]) + ("…" if len(flying) > _NAMED else "")
    progressing = conditions.find(stage.conditions, ConditionType.PROGRESSING)
    state = progressing.reason.removeprefix("StageUpdating") if progressing else ""
    # Not "1/3": the UI would make a fraction of it.
    return _line(stage.stage_name, f"{done(stage)} of {len(stage.clusters)}", names, state)


def _line(*cells: str) -> str:
    return "| " + " | ".join(f"{cell}{GAP}" for cell in cells) + " |"
