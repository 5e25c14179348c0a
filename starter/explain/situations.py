"""Where a run is, why it waits and who must act. Pure.

Problems on single clusters are found in `troubles`.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from api.names import RUN_FINALIZER
from api.reasons import ConditionType
from api.runs import RunState
from planning import conditions, failures
from planning.failures import Meaning
from planning.runs import approval_events, approvals
from planning.runs.gates import OpenGate, PendingApproval
from planning.runs.phases import ENDED, Phase
from starter import tables, words
from starter.explain import troubles
from starter.explain.looks import (
    NOBODY_ACTS,
    Attention,
    Look,
    Situation,
    clusters_at_work,
    failed_clusters,
    last_step,
    stuck_clusters,
)
from workflows.messages import DEFAULT_STUCK_AFTER


def of(look: Look) -> Situation:
    """Return the situation of a run by its phase, unless no worker has reacted to its spec."""
    if look.run.metadata.deletion_timestamp:
        return _going(look)
    if look.view.phase not in {*ENDED, Phase.PENDING} and (unheeded := _unheeded(look)):
        return unheeded
    return _BY_PHASE[look.view.phase](look)


def _planned(look: Look) -> Situation:
    clusters = words.count(look.view.total, "cluster")
    stages = words.count(sum(not each.deletes for each in look.view.stages), "stage")
    if look.view.state is not RunState.INITIALIZE:
        return _about_to(look, f"Planned: {clusters} in {stages}.", "start")
    says = f"Planned {look.ago(look.decided)} ago and not started: {clusters} in {stages}."
    return Situation(
        says=(says, "No cluster has been touched."),
        acts="Someone has to start it.",
        attention=Attention.PERSON,
        since=look.decided,
        commands=tuple(tables.advice(look.view)),
    )


def _running(look: Look) -> Situation:
    rows = clusters_at_work(look.view)
    if not rows:
        return _between(look)
    stage, since = look.view.stage, rows[0].started
    removes = stage is not None and stage.deletes
    verb = "Removing what is on" if removes else "Updating"
    clusters = words.named([each.name for each in rows])
    says = f"{verb} {clusters} in {look.place}, for {look.ago(since)} so far. {look.done}"
    if removes and since and look.now - since > DEFAULT_STUCK_AFTER:
        acts = "Someone has to check the clusters: removal rarely takes this long."
        return Situation((says,), acts, Attention.PERSON, since=since)
    return Situation((says,), NOBODY_ACTS, since=since)


def _stuck(look: Look) -> Situation:
    rows = clusters_at_work(look.view)
    since = rows[0].started if rows else look.decided
    long = f"in flight for {look.ago(since)}, longer than the limit"
    stuck = words.named([each.name for each in stuck_clusters(look.view, now=look.now)])
    says = [f"Stuck: {stuck or 'clusters'} in {look.place}, {long}. {look.done}"]
    if look.view.state is RunState.STOP:
        says.append("It was asked to stop, but cannot while clusters are in flight.")
    return Situation(
        says=tuple(says),
        acts="Someone has to fix the problem there, or roll back. Once it is fixed, the run "
        "continues by itself.",
        attention=Attention.PERSON,
        since=since,
        commands=(_rollback(look),),
    )


def _queued(look: Look) -> Situation:
    """Describe a run that waits for another run of its placement, as its rollout policy says."""
    message = look.view.deciding.message if look.view.deciding else ""
    return Situation(
        says=(f"Queued {look.ago(look.decided)} ago: it {message}. No cluster has been touched.",),
        acts=f"{NOBODY_ACTS} It begins by itself. To let it begin sooner, stop and delete the run "
        "that it waits for; to leave the line, stop this one.",
        since=look.decided,
        commands=(
            f"fleetgate run list{look.flag}  # what the other runs of the placement do",
            f"fleetgate run stop {look.view.name}{look.flag}",
        ),
    )


def _replaced(look: Look) -> Situation:
    """Describe a run that a newer one replaces while clusters are still in flight."""
    clusters = words.named([each.name for each in clusters_at_work(look.view)])
    return Situation(
        says=(f"Ending, because a newer run replaces it. {look.done}",),
        acts=f"{NOBODY_ACTS} It ends once {clusters or 'nothing'} in {look.place} has finished; a "
        "cluster that does not finish has to be fixed or skipped.",
        message=look.view.deciding.message if look.view.deciding else "",
        since=look.decided,
    )


def _stopping(look: Look) -> Situation:
    if words.is_replaced(look.view):
        return _replaced(look)
    clusters = words.named([each.name for each in clusters_at_work(look.view)])
    first = f"{clusters} in {look.place} must finish first" if clusters else "at once"
    return Situation(
        says=(f"Stopping{look.by}: {first}, and no other cluster is started. {look.done}",),
        acts=f"{NOBODY_ACTS} The stop can still be undone.",
        since=look.decided,
        commands=(f"fleetgate run start {look.view.name}{look.flag}", _history(look)),
    )


def _stopped(look: Look) -> Situation:
    if look.view.state is RunState.RUN:
        return _about_to(look, f"Stopped in {look.place}.", "resume")
    says = [f"Stopped{look.by} {look.ago(look.decided)} ago in {look.place}. {look.done}"]
    if look.view.gates.approvals:
        says.append(f"Once resumed, it waits for {_closed_gates(look)}.")
    return Situation(
        says=tuple(says),
        acts="Someone has to start it again.",
        attention=Attention.PERSON,
        since=look.decided,
        commands=(*tables.advice(look.view), _history(look)),
    )


def _paused(look: Look) -> Situation:
    """Describe a run of which more clusters failed than its rollout policy allows."""
    paused, failed = look.view.deciding, look.view.failed
    acts = "Someone has to skip or retry the clusters that failed, then let the run continue."
    if not failed:
        acts = "Nothing counts as failed any more. Someone has to let the run continue."
    return Situation(
        says=(
            f"Paused by its rollout policy {look.ago(look.decided)} ago in {look.place}.",
            look.done,
        ),
        acts=acts,
        attention=Attention.PERSON,
        message=paused.message if paused else "",
        since=look.decided,
        commands=tuple(words.decide_commands(look.view)),
    )


def _rolling_back(look: Look) -> Situation:
    """Describe a run that is about to be rolled back by its rollout policy."""
    begun = look.view.deciding
    return Situation(
        says=(f"Since {look.ago(look.decided)}, its rollout policy rolls it back. {look.done}",),
        acts=NOBODY_ACTS,
        message=begun.message if begun else "",
        since=look.decided,
    )


def _succeeded(look: Look) -> Situation:
    at, created = look.decided, look.view.created
    took = f", {words.age(at - created)} after it was created" if at and created else ""
    says = f"Succeeded {look.ago(at)} ago{took}. {look.done}"
    return Situation((says,), NOBODY_ACTS, since=at)


def _failed(look: Look) -> Situation:
    meaning = _meaning(look)
    if not conditions.has(look.run.status.conditions, ConditionType.INITIALIZED):
        where, next_commands = "It could not be planned; no cluster was touched.", _plan(look)
        acts = "Someone has to fix that and create a new run. This one is over."
    else:
        where, next_commands = _left(look), (_create(look), _rollback(look))
        acts = "Someone has to decide: create a new run, or roll back. This one is over."
    if look.view.rolled_back_by:
        next_commands = ()
        acts = "Someone has to find out why the clusters failed. This run is over."
    takers = tuple(_takers(look))
    return Situation(
        says=(f"Failed {look.ago(look.decided)} ago. {where}", *(each for each, _ in takers)),
        acts=acts,
        attention=Attention.PERSON,
        since=look.decided,
        cause=meaning.cause,
        fix=meaning.fix,
        message=failures.reason(look.verdict),
        commands=(*(each for _, each in takers), *meaning.commands, *next_commands),
    )


def _takers(look: Look) -> Iterator[tuple[str, str]]:
    """Yield each run that took over a cluster of this one, with the command that explains it."""
    for row in failed_clusters(look.view):
        evidence = look.evidence.clusters.get(row.name)
        other = troubles.taker(evidence.binding, but=look.view.name) if evidence else None
        if other and other.run == look.view.rolled_back_by:
            continue
        if other and look.decided and other.at <= look.decided:
            command = f"fleetgate run explain {other.run}{look.flag}"
            yield f"Run {other.run} took over {row.name}.", command


def _left(look: Look) -> str:
    """Return in what state a failed run leaves the clusters."""
    kept = " They keep the new snapshot." if look.view.done else ""
    if look.view.rolled_back_by:
        kept = f" Run {look.view.rolled_back_by} takes its clusters back."
    begun = words.named([each.name for each in clusters_at_work(look.view)])
    half = f" {begun} had started to update." if begun else ""
    return f"It ended in {look.place}. {look.done}{kept}{half}"


def _meaning(look: Look) -> Meaning:
    view = look.view
    return failures.explain(
        look.verdict,
        scope=look.scope,
        placement=view.placement,
        strategy=view.strategy,
        namespace=view.namespace,
    )


def _plan(look: Look) -> tuple[str, ...]:
    return (
        f"fleetgate plan {look.view.placement} {look.view.strategy}{look.flag}",
        _create(look),
    )


def _create(look: Look) -> str:
    named = f"--placement {look.view.placement} --strategy {look.view.strategy}"
    return f"fleetgate run create NAME {named}{look.flag} --state Run"


def _history(look: Look) -> str:
    return f"fleetgate run history {look.view.name}{look.flag}  # who stopped it"


def _rollback(look: Look) -> str:
    return f"fleetgate rollback {look.view.placement}{look.flag}"


# -- runs that wait at gates ---------------------------------------------------------------


def _waiting(look: Look) -> Situation:
    """Describe a run that waits at gates."""
    gates = look.view.gates
    if gates.approvals:
        return _for_people(look)
    return _for_time(look, gates.waits) if gates.waits else _between(look)


def _closed_gates(look: Look) -> str:
    """Name the closed gates: `the approval after stage a and the wait of 1m after stage a`."""
    return " and ".join(f"the {each}" for each in look.view.gates.open)


def _clock(moment: datetime, now: datetime) -> str:
    """Return a time of day in UTC, with the date unless it is today."""
    day = "" if moment.date() == now.date() else f"{moment:%Y-%m-%d} "
    return f"{day}{moment:%H:%M:%S} UTC"


def _for_time(look: Look, waits: tuple[OpenGate, ...]) -> Situation:
    since = min(each.since for each in waits if each.since)
    until = max(each.until for each in waits if each.until)
    stages = " and ".join(dict.fromkeys(each.stage for each in waits))
    left = words.age(until - look.now)
    says = (
        f"Waiting until {_clock(until, look.now)} ({left} left), after stage {stages}. {look.done}"
    )
    if look.is_overdue(until):
        over = f"The wait after stage {stages} has been over for {look.ago(until)}."
        return _late(
            look, f"{over} {look.done}", "Nothing has happened since: is a worker running?"
        )
    return Situation((says,), f"{NOBODY_ACTS} It continues by itself.", since=since, until=until)


def _for_people(look: Look) -> Situation:
    since = min((each.since for each in look.view.gates.approvals if each.since), default=None)
    says = f"Waiting for {_closed_gates(look)}, for {look.ago(since)} so far. {look.done}"
    given = [each for each in look.view.gates.approvals if _given_at(look, each)]
    if given and look.is_overdue(_given_at(look, given[0])):
        return _late(look, says, f"The {given[0]} was given, but no worker has processed it.")
    if len(given) == len(look.view.gates.approvals):
        return Situation((says,), f"{NOBODY_ACTS} The approval was given just now.", since=since)
    faults = map(approval_events.fault, look.evidence.approvals.values())
    return Situation(
        says=(says, *(f"{each}." for each in faults if each)),
        acts="Someone has to approve.",
        attention=Attention.PERSON,
        since=since,
        commands=tuple(_ways(look)),
    )


def _given_at(look: Look, gate: PendingApproval) -> datetime | None:
    request = look.evidence.approvals.get(gate.request)
    if request is None or not approvals.approved(request):
        return None
    found = conditions.find(request.status.conditions, approvals.APPROVED)
    return found.last_transition_time if found else None


def _ways(look: Look) -> Iterator[str]:
    """Yield the commands that approve, with fleetgate and with kubectl."""
    for gate in look.view.gates.approvals:
        request = look.evidence.approvals.get(gate.request)
        yield words.approve_command(look.view, gate)
        yield approval_events.kubectl_approve_command(
            kind=look.scope.approval,
            request=gate.request,
            namespace=look.view.namespace,
            generation=request.metadata.generation if request else 1,
            now=look.now,
        )


# -- runs that no worker drives ------------------------------------------------------------


_NO_WORKER: Final = "No worker with the roles engine and bridge watches this hub."
_HELD_UP: Final = (
    "No worker drives the run, the worker cannot reach the hub or Temporal, or a change of the "
    "placement is incomplete."
)


def _late(look: Look, *says: str, cause: str = _NO_WORKER) -> Situation:
    """Describe a run that waits for something that a worker should have done long ago."""
    return Situation(
        says=says,
        acts="Someone has to check that a worker is running and can reach the hub and Temporal.",
        attention=Attention.WORKER,
        since=last_step(look.run) or look.view.created,
        cause=cause,
        fix="Start a worker, or read the log of the running one.",
        commands=("fleetgate worker --run engine,bridge",),
    )


def _pending(look: Look) -> Situation:
    """Describe a run that has not been planned yet."""
    says = f"Created {look.ago(look.view.created)} ago and not planned yet."
    if not look.is_overdue(look.view.created):
        return Situation((says,), f"{NOBODY_ACTS} A worker plans it within moments.")
    if RUN_FINALIZER in look.run.metadata.finalizers:
        return _late(look, f"{says[:-1]}, although a worker has seen it.", cause=_HELD_UP)
    return _late(look, says, "No worker has picked it up: is one running?")


def _about_to(look: Look, where: str, what: str) -> Situation:
    """Describe a run whose spec.state was set to Run, and that is about to start or resume."""
    says = f"{where} {look.done}"
    writer = look.state_writer
    since = max(filter(None, [look.decided, writer.at if writer else None]), default=None)
    if look.is_overdue(since):
        waits = f"It was due to {what} {look.ago(since)} ago: is a worker running?"
        return _late(look, says, waits, cause=_HELD_UP)
    return Situation((f"{says} It is about to {what}.",), NOBODY_ACTS, since=since)


def _between(look: Look) -> Situation:
    """Describe a run between two steps: no cluster is in flight and no gate is closed."""
    since = last_step(look.run)
    says = f"At {look.place}, with no cluster in flight. {look.done}"
    if look.is_overdue(since):
        quiet = f"Nothing has happened for {look.ago(since)}: is a worker running?"
        return _late(look, says, quiet, cause=_HELD_UP)
    return Situation((says,), NOBODY_ACTS, since=since)


def _unheeded(look: Look) -> Situation | None:
    """Describe a run whose last change of spec.state no worker has reacted to; None for others."""
    generation = look.run.metadata.generation
    if all(each.observed_generation >= generation for each in look.run.status.conditions):
        return None
    writer = look.state_writer
    if writer is None or not look.is_overdue(writer.at):
        return None
    return _late(
        look,
        f"{words.upper(words.sentence(look.view, look.now))}. {look.done}",
        f"spec.state was set to {look.view.state}{look.by} {look.ago(writer.at)} ago, and no "
        "worker has reacted: is one running?",
    )


def _going(look: Look) -> Situation:
    """Describe a run that is being deleted."""
    since = look.run.metadata.deletion_timestamp
    says = f"Being deleted, for {look.ago(since)} so far. Clusters keep what they have."
    if look.is_overdue(since):
        waits = "A worker has to remove its approval requests first: is one running?"
        return _late(look, says, waits)
    return Situation((says,), NOBODY_ACTS, since=since)


_BY_PHASE = {
    Phase.PENDING: _pending,
    Phase.PLANNED: _planned,
    Phase.RUNNING: _running,
    Phase.WAITING: _waiting,
    Phase.STUCK: _stuck,
    Phase.STOPPING: _stopping,
    Phase.STOPPED: _stopped,
    Phase.PAUSED: _paused,
    Phase.ROLLING_BACK: _rolling_back,
    Phase.QUEUED: _queued,
    Phase.SUCCEEDED: _succeeded,
    Phase.FAILED: _failed,
}
