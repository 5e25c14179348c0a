"""Overview of a run for people: a headline and a table of its stages."""

from collections.abc import Sequence
from typing import Final

from api.reasons import ConditionType
from api.runs import ClusterStatus, RunState, StageStatus, UpdateRunStatus
from planning import conditions
from planning.identity import RunRef
from planning.runs import phases
from planning.runs.gates import PendingApproval, approve_command

GAP: Final = "\u2003"
"""Space between columns, which the UI does not separate."""
NOTHING: Final = "\u00a0"
"""Last line of the text: the UI's frame is a line too short."""


def markdown(
    status: UpdateRunStatus,
    *,
    run: RunRef,
    desired: RunState,
    approvals: Sequence[PendingApproval],
) -> str:
    """Return the run's current details for the Temporal UI; what a person has to do comes first."""
    lines = [f"**{headline(status)}**"]
    lines += [_to_approve(each, run) for each in approvals]
    if desired is RunState.INITIALIZE and status.stages_status:
        lines.append(
            "Planned, not started: to start, send the signal `resume` or set spec.state to Run."
        )
    if desired is RunState.STOP:
        lines.append(
            "Stop requested: to resume, send the signal `resume` or set spec.state to Run."
        )
    return "\n\n".join([*lines, _table(status), NOTHING])


def _to_approve(approval: PendingApproval, run: RunRef) -> str:
    stage, side = approval.stage, approval.side
    command = approve_command(run=run.name, stage=stage, side=side, namespace=run.namespace)
    return (
        f"Waiting for approval of `{approval.request}`: run `{command}`, or send the "
        f'update `approve` with `{{"stage": "{stage}", "side": "{side}"}}`.'
    )


def headline(status: UpdateRunStatus) -> str:
    """Return the message of the most advanced condition of the run."""
    found = phases.deciding(status)
    return found.message if found else "Not initialized yet"


def done(stage: StageStatus) -> int:
    """Return how many clusters of a stage have succeeded."""
    # Called with every change: most of a thousand clusters need not be checked.
    if conditions.has(stage.conditions, ConditionType.SUCCEEDED):
        return len(stage.clusters)
    return sum(
        conditions.has(cluster.conditions, ConditionType.SUCCEEDED) for cluster in _begun(stage)
    )


def in_flight(stage: StageStatus) -> list[str]:
    """Return the clusters of a stage that were started and have neither succeeded nor failed."""
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
    # Not "1/3": the UI would render it as a fraction.
    return _line(stage.stage_name, f"{done(stage)} of {len(stage.clusters)}", names, state)


def _line(*cells: str) -> str:
    return "| " + " | ".join(f"{cell}{GAP}" for cell in cells) + " |"
