"""Overview of a run for people: a headline and a table of its stages."""

from collections.abc import Sequence
from typing import Final

from api.runs import RunState, StageStatus, UpdateRunStatus
from planning.identity import RunRef
from planning.runs import phases
from planning.runs.gates import PendingApproval, approve_command
from planning.runs.phases import Progress

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


def _table(status: UpdateRunStatus) -> str:
    stages = phases.stages(status)
    if not stages:
        return ""
    rows = [_line("stage", "clusters done", "in flight", "state"), "| --- | --- | --- | --- |"]
    return "\n".join(rows + [_row(stage) for stage in stages])


_NAMED = 3


def _row(stage: StageStatus) -> str:
    flying = list(phases.in_flight(stage))
    names = ", ".join(flying[:_NAMED]) + ("…" if len(flying) > _NAMED else "")
    progress = phases.stage_progress(stage)
    state = "" if progress is Progress.AHEAD else str(progress)
    # Not "1/3": the UI would render it as a fraction.
    return _line(stage.stage_name, f"{phases.done(stage)} of {len(stage.clusters)}", names, state)


def _line(*cells: str) -> str:
    return "| " + " | ".join(f"{cell}{GAP}" for cell in cells) + " |"
