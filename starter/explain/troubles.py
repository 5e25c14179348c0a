"""What is wrong on one cluster, as far as the hub knows. Pure: what was read in, troubles out."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from api.base import Condition
from api.bindings import Binding
from api.members import MemberCluster
from api.names import member_namespace
from api.outcomes import FailedResourcePlacement
from api.reasons import BindingReason, ConditionType
from planning import bindings, conditions
from planning.explaining import reasons, refusals
from planning.explaining.entries import Holder
from planning.placements import eligibility
from planning.placements.binding_outcomes import failed
from starter import words
from starter.explain import objects
from starter.explain.evidence import ClusterEvidence

OBJECTS_NAMED: Final = 3
"""Objects of a cluster that are named; what keeps one from working often keeps all."""
MAX_MESSAGE: Final = 400
"""Characters of an API server's words; some quote the whole object."""
OnMember = Callable[[str, str], str]
"""Makes of a cluster and kubectl's arguments what to type to reach that cluster."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong."""

    subject: str
    """What it is about: an object on the member, the binding, the member itself."""
    message: str
    """In the words of whoever found it."""
    cause: str = ""
    cure: str = ""
    condition: str = ""
    reason: str = ""
    details: tuple[str, ...] = ()
    """What differs, and what the object says of itself."""
    commands: tuple[str, ...] = ()


_TAKER: Final = re.compile(r", updateRun: (\S+)$")
_STEPS: Final = (
    ConditionType.OVERRIDDEN,
    ConditionType.WORK_SYNCHRONIZED,
    ConditionType.APPLIED,
    ConditionType.AVAILABLE,
    ConditionType.DIFF_REPORTED,
)
_BY_MEMBER: Final = {ConditionType.APPLIED, ConditionType.AVAILABLE, ConditionType.DIFF_REPORTED}
_BUSY: Final = {BindingReason.APPLYING, BindingReason.REPORTING_DIFF}


def step(binding: Binding) -> Condition | None:
    """The first condition of the present content that does not hold; None if none says so."""
    found = (conditions.find(binding.status.conditions, kind) for kind in _STEPS)
    fresh = (each for each in found if each and _is_fresh(each, binding))
    return next((each for each in fresh if each.status != "True"), None)


def step_text(binding: Binding | None) -> str:
    """Where a cluster is by its binding: `Available is False`; empty if that is not known."""
    found = step(binding) if binding else None
    return f"{found.type} is {found.status}" if found else ""


@dataclass(frozen=True, slots=True)
class Taker:
    """The run that announced a binding's present content."""

    run: str
    at: datetime


def taker(binding: Binding | None, *, but: str) -> Taker | None:
    """Who announced the binding's present content, if it is another run than `but`."""
    started = ConditionType.ROLLOUT_STARTED
    found = conditions.find(binding.status.conditions, started) if binding else None
    named = _TAKER.search(found.message) if found else None
    if found is None or named is None or named[1] == but:
        return None
    return Taker(named[1], found.last_transition_time)


def of_update(
    cluster: str, evidence: ClusterEvidence, *, on_member: OnMember, now: datetime
) -> Iterator[Trouble]:
    """What keeps a cluster from being done with its update."""
    binding = evidence.binding
    if binding is None:
        yield _no_binding(cluster)
        yield from _member(cluster, evidence.member, now)
        return
    blocking = step(binding)
    if blocking is None:
        yield from _unreported(binding)
        return
    found = list(_objects(cluster, evidence, binding, on_member))
    yield from found
    if not found and blocking.reason not in _BUSY:
        by_member = blocking.type in _BY_MEMBER
        heard = _heard(evidence.member, now) if by_member else ()
        yield replace(_of_binding(binding, blocking), details=heard)
    if blocking.type in _BY_MEMBER:
        yield from _member(cluster, evidence.member, now)


def of_removal(cluster: str, evidence: ClusterEvidence, *, now: datetime) -> Iterator[Trouble]:
    """What keeps a cluster from being done with its removal."""
    if evidence.works:
        names = ", ".join(each.name for each in evidence.works)
        yield Trouble(
            subject=f"Work {names}",
            message="is still there",
            cause="The member's agent has not taken all objects off the cluster yet.",
            cure="See that the agent is alive; an object with a finalizer keeps it waiting.",
            commands=(f"kubectl get works -n {member_namespace(cluster)}",),
        )
    yield from _member(cluster, evidence.member, now)


def of_taken(run: str, evidence: ClusterEvidence, *, at: datetime | None) -> Iterator[Trouble]:
    """Who took a cluster from a run, which noticed it at some time."""
    binding = evidence.binding
    if binding is None:
        return
    other = taker(binding, but=run)
    if other is None:
        said = "was given another content by hand, or because it was scheduled anew"
    elif at and other.at > at:
        said = f"has the content of run {other.run} by now, which came later"
    else:
        said = f"was given another content by run {other.run}"
    yield Trouble(subject=f"binding {binding.metadata.name}", message=said)


def _is_fresh(condition: Condition, binding: Binding) -> bool:
    return condition.observed_generation == binding.metadata.generation


def _no_binding(cluster: str) -> Trouble:
    return Trouble(
        subject=f"cluster {cluster}",
        message="has no binding of the placement",
        cause="Somebody deleted the binding, or the placement does not pick the cluster any more.",
        cure="Whoever schedules the placement makes it anew if the cluster is still picked; see "
        "that it runs.",
        commands=(f"kubectl get membercluster {cluster}",),
    )


def _unreported(binding: Binding) -> Iterator[Trouble]:
    """The binding names new content, and nobody has said anything of that yet."""
    if bindings.progress(binding) is bindings.Progress.FINISHED:
        return
    subject = f"binding {binding.metadata.name}"
    if not bindings.announced(binding):
        yield Trouble(
            subject=subject,
            message="was changed and not announced again",
            cause="Somebody other than the run wrote to the binding, or the run is about to.",
            cure="If this lasts, see that a worker runs and who else writes to the binding.",
        )
        return
    yield Trouble(
        subject=subject,
        message="names the new version, and nothing is reported of it yet",
        cause="Whoever turns bindings into objects for the members has not looked at it yet.",
        cure="If this lasts, see that placement runs: a worker with the room placement, or "
        "KubeFleet's hub agent.",
    )


def _of_binding(binding: Binding, found: Condition) -> Trouble:
    trouble = _told(Holder.BINDING, found)
    return replace(trouble, subject=f"binding {binding.metadata.name}")


def _told(holder: Holder, found: Condition) -> Trouble:
    """What a condition says, with its cause: by its words if they are known, else by its reason."""
    known = reasons.find(holder, condition=found.type, reason=found.reason)
    meaning = refusals.explain(found.message) or known
    return Trouble(
        subject="",
        message=_words(found.message) or f"{found.type} is {found.status}: {found.reason}",
        cause=meaning.cause if meaning else "",
        cure=meaning.cure if meaning else "",
        condition=found.type,
        reason=found.reason,
    )


def _objects(
    cluster: str, evidence: ClusterEvidence, binding: Binding, on_member: OnMember
) -> Iterator[Trouble]:
    """The first objects that failed, as the binding lists them or else the Works."""
    works = evidence.works or ()
    listed: Iterable[FailedResourcePlacement] = binding.status.failed_placements or failed(works)
    entries = list(listed)
    for each in entries[:OBJECTS_NAMED]:
        trouble = _told(Holder.MANIFEST, each.condition)
        details = (*objects.differences(each, binding.status), *objects.reported(each, works))
        commands = tuple(on_member(cluster, each) for each in objects.looks(each))
        yield replace(trouble, subject=objects.title(each), details=details, commands=commands)
    if more := entries[OBJECTS_NAMED:]:
        yield Trouble(subject=words.count(len(more), "more object"), message="failed as well")


def _member(cluster: str, member: MemberCluster | None, now: datetime) -> Iterator[Trouble]:
    """What keeps a member from doing its part, if that can be told."""
    if member is None:
        return
    away = eligibility.ineligible(member, now=now)
    if away:
        yield Trouble(
            subject=f"member cluster {cluster}",
            message=away,
            cause="Nobody applies anything on the member, or reports from it.",
            cure="Bring its agent back: `fleetgate agent`, or a worker with the room agents. Its "
            "log says why it cannot reach the hub.",
            commands=(f"kubectl describe membercluster {cluster}",),
        )


def _heard(member: MemberCluster | None, now: datetime) -> tuple[str, ...]:
    """When the member's agent gave its last sign of life."""
    if member is None:
        return ()
    beats = [each.last_received_heartbeat for each in member.status.agent_status]
    last = max((each for each in beats if each), default=None)
    return (f"its agent was last heard of {words.age(now - last)} ago",) if last else ()


def _words(message: str) -> str:
    text = " ".join(refusals.bare(message).split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
