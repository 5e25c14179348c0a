"""Runs, gates and times as text. Pure: views and `now` in, text out."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from api.reasons import RunReason
from planning import failures
from planning.runs import gates
from planning.runs.gates import OpenGate, PendingApproval
from planning.runs.phases import Phase, Progress
from planning.runs.views import RunView, StageRow

if TYPE_CHECKING:
    from planning.runs.estimating import Estimate

NAMED_AT_MOST = 3
"""Clusters that a sentence names; tables show all of them."""


def age(length: timedelta | None) -> str:
    """Format a duration as kubectl does, such as `45s`, `3m10s`, `5h`."""
    if length is None:
        return ""
    seconds = max(int(length.total_seconds()), 0)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 2:
        return f"{seconds}s"
    if minutes < 10:
        return f"{minutes}m{seconds % 60}s" if seconds % 60 else f"{minutes}m"
    if hours < 3:
        return f"{minutes}m"
    return f"{hours}h" if days < 2 else f"{days}d"


def duration(length: timedelta | None) -> str:
    """Format how long something took; the API stores whole seconds, so zero means less than one."""
    return "<1s" if length == timedelta(0) else age(length)


def upper(text: str) -> str:
    """Return the text with its first letter in upper case."""
    return text[:1].upper() + text[1:]


def about(length: timedelta) -> str:
    """Format an estimated duration."""
    seconds = length.total_seconds()
    if seconds < 10:
        return "a few seconds"
    if seconds < 90:
        return f"about {5 * round(seconds / 5)}s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"


def left(estimate: "Estimate | None") -> str:
    """Format an estimate, such as `about 4 min plus 1 approval`; empty if there is none."""
    if estimate is None:
        return ""
    number = estimate.approvals
    approvals = f"{number} approval{'s' * (number > 1)}" if number else ""
    if estimate.updating is None:
        return ", plus ".join(filter(None, ["unknown until a cluster is done", approvals]))
    length = estimate.updating + estimate.waiting
    # Zero means that nothing is left, or that the clusters are overdue: there is no time to show.
    return " plus ".join(filter(None, [about(length) if length else "", approvals]))


def sentence(view: RunView, now: datetime) -> str:
    """Return what the run is doing, or what it waits for."""
    stage = view.stage
    where = f" in stage {stage.name}" if stage else ""
    match view.phase:
        case Phase.RUNNING:
            return f"{_running(stage)}{where}" if _in_flight(stage) else _between(stage)
        case Phase.STUCK | Phase.STOPPED | Phase.PAUSED | Phase.ROLLING_BACK:
            return f"{phrase(view, now)}{where}"
        case Phase.WAITING:
            texts = [
                f"{awaited(gate, now)} {gate.side} stage {gate.stage}" for gate in view.gates.open
            ]
            return f"waiting for {' and '.join(texts)}" if texts else phrase(view, now)
    return phrase(view, now)


def phrase(view: RunView, now: datetime) -> str:
    """Return the same in fewer words, for places where the stage is shown beside it."""
    match view.phase:
        case Phase.PENDING:
            return "waiting to be planned by a worker"
        case Phase.PLANNED:
            return "planned, not started" if view.to_be_started else "planned, about to start"
        case Phase.RUNNING:
            return _running(view.stage) if _in_flight(view.stage) else "running"
        case Phase.WAITING:
            texts = [awaited_there(gate, now) for gate in view.gates.open]
            return f"waiting: {', '.join(texts)}" if texts else "waiting"
        case Phase.STUCK:
            return f"stuck at {_in_flight(view.stage)}"
        case Phase.QUEUED | Phase.STOPPING:
            return _held_back(view)
        case Phase.STOPPED:
            return "stopped" if view.to_be_started else "about to resume"
        case Phase.PAUSED | Phase.ROLLING_BACK:
            doing = "paused" if view.phase is Phase.PAUSED else "about to be rolled back"
            names = view.stage.names(Progress.FAILED) if view.stage else []
            until = " until someone continues it" if view.phase is Phase.PAUSED else ""
            why = f": {named(names)} failed" if names else until
            return f"{doing} by its rollout policy{why}"
        case Phase.SUCCEEDED | Phase.FAILED:
            return _ended(view)


def named(names: Sequence[str], *, at_most: int = NAMED_AT_MOST) -> str:
    """Join names, only the first few if there are many: `a, b, c and 4 more`."""
    more = len(names) - at_most
    text = ", ".join(names[:at_most])
    return f"{text} and {more} more" if more > 0 else text


def count(number: int, what: str) -> str:
    """Return a number with its noun: `1 cluster`, `2 clusters`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def approve_command(view: RunView, gate: PendingApproval) -> str:
    """Return the command that approves a gate."""
    return gates.approve_command(
        run=view.name, stage=gate.stage, side=gate.side, namespace=view.namespace
    )


def decide_commands(view: RunView) -> list[str]:
    """Return the commands with which a person decides about a run that a policy has paused."""
    flag, failed = namespace_flag(view), view.stage.names(Progress.FAILED) if view.stage else []
    about = [
        f"fleetgate run retry {view.name} {' '.join(failed)}{flag} --reason REASON",
        f"fleetgate run skip {view.name} {' '.join(failed)}{flag} --reason REASON",
    ]
    if len(failed) > NAMED_AT_MOST:
        about = [f"fleetgate run retry {view.name} --failed{flag} --reason REASON"]
    return [*(about if failed else []), f"fleetgate run start {view.name}{flag}"]


def watch_rollback(view: RunView) -> list[str]:
    """Return the command that watches the run that rolls this one back; none if none does."""
    if not view.rolled_back_by:
        return []
    return [f"fleetgate run watch {view.rolled_back_by}{namespace_flag(view)}"]


def set_back(view: RunView) -> str:
    """Return `, 2 failed, 1 skipped` to append to what is done; empty if there are none."""
    numbers = ((view.failed, "failed"), (view.skipped, "skipped"))
    return "".join(f", {number} {what}" for number, what in numbers if number)


def namespace_flag(view: RunView) -> str:
    """Return ` -n NAMESPACE` for a namespaced run, else an empty text."""
    return f" -n {view.namespace}" if view.namespace else ""


def _running(stage: StageRow | None) -> str:
    verb = "removing from" if stage and stage.deletes else "updating"
    return f"{verb} {_in_flight(stage)}"


def _between(stage: StageRow | None) -> str:
    return f"at stage {stage.name}" if stage else "finishing"


def awaited(gate: OpenGate, now: datetime) -> str:
    """Return what a run waits for at a gate, as a noun or as the time that is left."""
    return f"{age(gate.left(now))} more" if gate.until else gate.what


def awaited_there(gate: OpenGate, now: datetime) -> str:
    """Return the same for places that show the stage beside it."""
    return awaited(gate, now) if gate.until else f"{gate.what} {gate.side}"


def _ended(view: RunView) -> str:
    deciding = view.deciding
    if view.phase is Phase.FAILED:
        return f"failed: {failures.reason(deciding.message)}" if deciding else "failed"
    if deciding is None or view.created is None:
        return "succeeded"
    took = age(deciding.last_transition_time - view.created)
    return f"succeeded after {took}{set_back(view)}"


def _held_back(view: RunView) -> str:
    if view.phase is Phase.QUEUED:
        # The message says which run it waits for, and its place in the line.
        return f"queued, {view.deciding.message}" if view.deciding else "queued"
    first = "being replaced by a newer run" if is_replaced(view) else "stopping"
    return f"{first}, {_in_flight(view.stage) or 'nothing'} to finish first"


def is_replaced(view: RunView) -> bool:
    """Return whether a newer run replaces it while clusters are still in flight."""
    return view.deciding is not None and view.deciding.reason == RunReason.SUPERSEDED


def _in_flight(stage: StageRow | None) -> str:
    """Return the names of the first few clusters that are being updated."""
    return named(stage.names(Progress.UPDATING)) if stage else ""
