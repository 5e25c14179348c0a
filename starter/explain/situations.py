"""Where a run is, why it waits and who must act. Pure.

Problems on single clusters are found in `troubles`.
"""

from collections.abc import Iterator

from api.reasons import ConditionType
from api.runs import RunState
from planning import conditions, failures
from planning.explaining.patterns import Meaning
from planning.runs.phases import ENDED, Phase
from starter import tables, words
from starter.explain import troubles, waits, workers
from starter.explain.looks import (
    NOBODY_ACTS,
    Attention,
    Look,
    Situation,
    clusters_at_work,
    failed_clusters,
    stuck_clusters,
)
from workflows.messages import DEFAULT_STUCK_AFTER


def of(look: Look) -> Situation:
    """Return the situation of a run by its phase, unless no worker has reacted to its spec."""
    if look.run.metadata.deletion_timestamp:
        return workers.going(look)
    if look.view.phase not in {*ENDED, Phase.PENDING} and (unheeded := workers.unheeded(look)):
        return unheeded
    return _BY_PHASE[look.view.phase](look)


def _planned(look: Look) -> Situation:
    clusters = words.count(look.view.total, "cluster")
    stages = words.count(sum(not each.deletes for each in look.view.stages), "stage")
    if look.view.state is not RunState.INITIALIZE:
        return workers.about_to(look, f"Planned: {clusters} in {stages}.", "start")
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
        return workers.between(look)
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


def _stopping(look: Look) -> Situation:
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
        return workers.about_to(look, f"Stopped in {look.place}.", "resume")
    says = [f"Stopped{look.by} {look.ago(look.decided)} ago in {look.place}. {look.done}"]
    if look.view.gates.approvals:
        says.append(f"Once resumed, it waits for {waits.names(look)}.")
    return Situation(
        says=tuple(says),
        acts="Someone has to start it again.",
        attention=Attention.PERSON,
        since=look.decided,
        commands=(*tables.advice(look.view), _history(look)),
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
    takers = tuple(_takers(look))
    return Situation(
        says=(f"Failed {look.ago(look.decided)} ago. {where}", *(each for each, _ in takers)),
        acts=acts,
        attention=Attention.PERSON,
        since=look.decided,
        cause=meaning.cause,
        cure=meaning.cure,
        message=words.reason(look.verdict),
        commands=(*(each for _, each in takers), *meaning.commands, *next_commands),
    )


def _takers(look: Look) -> Iterator[tuple[str, str]]:
    """Yield each run that took over a cluster of this one, with the command that explains it."""
    for row in failed_clusters(look.view):
        evidence = look.evidence.clusters.get(row.name)
        other = troubles.taker(evidence.binding, but=look.view.name) if evidence else None
        if other and look.decided and other.at <= look.decided:
            command = f"fleetgate run explain {other.run}{look.flag}"
            yield f"Run {other.run} took over {row.name}.", command


def _left(look: Look) -> str:
    """Return in what state a failed run leaves the clusters."""
    kept = " They keep the new snapshot." if look.view.done else ""
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


_BY_PHASE = {
    Phase.PENDING: workers.pending,
    Phase.PLANNED: _planned,
    Phase.RUNNING: _running,
    Phase.WAITING: waits.waiting,
    Phase.STUCK: _stuck,
    Phase.STOPPING: _stopping,
    Phase.STOPPED: _stopped,
    Phase.SUCCEEDED: _succeeded,
    Phase.FAILED: _failed,
}
