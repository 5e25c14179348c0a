"""What is wrong on one cluster, as far as the hub knows. Pure: evidence in, troubles out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from api.base import Condition
from api.bindings import Binding, BindingStatus
from api.members import MemberCluster
from api.names import member_namespace
from api.outcomes import FailedResourcePlacement, PatchDetail, ResourceIdentifier
from api.reasons import BindingReason, ConditionType
from api.works import WorkResourceIdentifier
from planning import bindings, conditions
from planning.placements import eligibility
from planning.placements.binding_status import failed
from planning.placements.binding_steps import WorkReport
from starter import words
from starter.explain import reasons, refusals
from starter.explain.looks import ClusterEvidence
from starter.explain.reasons.entries import Holder

OBJECTS_NAMED: Final = 3
"""Objects of a cluster that are named; they often fail for the same reason."""
MAX_MESSAGE: Final = 400
"""Characters of an API server's message; some quote the whole object."""
OnMember = Callable[[str, str], str]
"""Turns a cluster and kubectl arguments into the command to type for that cluster."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One thing that is wrong."""

    subject: str
    """What it is about: an object on the member, the binding, the member itself."""
    message: str
    """In the words of the component that reported it."""
    cause: str = ""
    fix: str = ""
    condition: str = ""
    reason: str = ""
    details: tuple[str, ...] = ()
    """The differences, and the object's own bad conditions."""
    commands: tuple[str, ...] = ()


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
    """Return the first condition of the binding's current generation that is not True, or None."""
    found = (conditions.find(binding.status.conditions, kind) for kind in _STEPS)
    fresh = (each for each in found if each and _is_fresh(each, binding))
    return next((each for each in fresh if each.status != "True"), None)


def step_text(binding: Binding | None) -> str:
    """Return where a cluster is by its binding, such as `Available is False`; empty if unknown."""
    found = step(binding) if binding else None
    return f"{found.type} is {found.status}" if found else ""


@dataclass(frozen=True, slots=True)
class Taker:
    """The run that rolled out the current content of a binding."""

    run: str
    at: datetime


def taker(binding: Binding | None, *, but: str) -> Taker | None:
    """Return the run named in the binding's RolloutStarted condition, unless it is `but`."""
    run = bindings.announcer(binding) if binding else ""
    if binding is None or run in ("", but):
        return None
    found = conditions.find(binding.status.conditions, ConditionType.ROLLOUT_STARTED)
    assert found is not None, "it names the run"
    return Taker(run, found.last_transition_time)


def of_update(
    cluster: str, evidence: ClusterEvidence, *, on_member: OnMember, now: datetime
) -> Iterator[Trouble]:
    """Yield what keeps a cluster's update from completing."""
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
    """Yield what keeps the removal from a cluster from completing."""
    if evidence.works:
        names = ", ".join(each.name for each in evidence.works)
        yield Trouble(
            subject=f"Work {names}",
            message="still exists",
            cause="The member's agent has not removed all objects from the cluster yet.",
            fix="Check that the agent is running; an object with a finalizer keeps it waiting.",
            commands=(f"kubectl get works -n {member_namespace(cluster)}",),
        )
    yield from _member(cluster, evidence.member, now)


def of_taken(run: str, evidence: ClusterEvidence, *, at: datetime | None) -> Iterator[Trouble]:
    """Yield who took over a cluster from a run; `at` is when the run noticed."""
    binding = evidence.binding
    if binding is None:
        return
    other = taker(binding, but=run)
    if other is None:
        said = "was given other content by hand, or by rescheduling"
    elif at and other.at > at:
        said = f"now has the content of run {other.run}, which came later"
    else:
        said = f"was given other content by run {other.run}"
    yield Trouble(subject=f"binding {binding.metadata.name}", message=said)


def _is_fresh(condition: Condition, binding: Binding) -> bool:
    return condition.observed_generation == binding.metadata.generation


def _no_binding(cluster: str) -> Trouble:
    return Trouble(
        subject=f"cluster {cluster}",
        message="has no binding for the placement",
        cause="The binding was deleted, or the placement no longer picks the cluster.",
        fix="The scheduler creates it again if the cluster is still picked; check that placement "
        "is running.",
        commands=(f"kubectl get membercluster {cluster}",),
    )


def _unreported(binding: Binding) -> Iterator[Trouble]:
    """Yield why nothing has been reported yet for a binding's current content."""
    if bindings.progress(binding) is bindings.BindingProgress.FINISHED:
        return
    subject = f"binding {binding.metadata.name}"
    if not bindings.announced(binding):
        yield Trouble(
            subject=subject,
            message="was changed without a new RolloutStarted condition",
            cause="Something other than the run wrote to the binding, or the run is about to "
            "update the condition.",
            fix="If this persists, check that a worker is running, and what else writes to the "
            "binding.",
        )
        return
    yield Trouble(
        subject=subject,
        message="has the new snapshot, but nothing has been reported for it yet",
        cause="Placement, which turns bindings into objects for the members, has not processed it "
        "yet.",
        fix="If this persists, check that placement is running: a worker with the role "
        "placement, or KubeFleet's hub agent.",
    )


def _of_binding(binding: Binding, found: Condition) -> Trouble:
    trouble = _told(Holder.BINDING, found)
    return replace(trouble, subject=f"binding {binding.metadata.name}")


def _told(holder: Holder, found: Condition) -> Trouble:
    """Explain a condition: by its message if that is known, else by its reason."""
    known = reasons.find(holder, condition=found.type, reason=found.reason)
    meaning = refusals.explain(found.message) or known
    return Trouble(
        subject="",
        message=_words(found.message) or f"{found.type} is {found.status}: {found.reason}",
        cause=meaning.cause if meaning else "",
        fix=meaning.fix if meaning else "",
        condition=found.type,
        reason=found.reason,
    )


def _objects(
    cluster: str, evidence: ClusterEvidence, binding: Binding, on_member: OnMember
) -> Iterator[Trouble]:
    """Yield the first objects that failed, as listed in the binding, or else in the Works."""
    works = evidence.works or ()
    listed: Iterable[FailedResourcePlacement] = binding.status.failed_placements or failed(works)
    entries = list(listed)
    for each in entries[:OBJECTS_NAMED]:
        trouble = _told(Holder.MANIFEST, each.condition)
        details = (*_differences(each, binding.status), *_reported(each, works))
        commands = tuple(on_member(cluster, each) for each in _looks(each))
        yield replace(trouble, subject=_title(each), details=details, commands=commands)
    if more := entries[OBJECTS_NAMED:]:
        yield Trouble(subject=words.count(len(more), "more object"), message="also failed")


def _member(cluster: str, member: MemberCluster | None, now: datetime) -> Iterator[Trouble]:
    """Yield why nothing can be placed on a member now, if so."""
    if member is None:
        return
    away = eligibility.ineligible(member, now=now)
    if away:
        yield Trouble(
            subject=f"member cluster {cluster}",
            message=away,
            cause="Nothing is applied on the member, and nothing is reported from it.",
            fix="Bring its agent back: `fleetgate agent`, or a worker with the role agents. Its "
            "log says why it cannot reach the hub.",
            commands=(f"kubectl describe membercluster {cluster}",),
        )


def _heard(member: MemberCluster | None, now: datetime) -> tuple[str, ...]:
    """Return when the member's agent was last heard from, as a detail line."""
    if member is None:
        return ()
    beats = [each.last_received_heartbeat for each in member.status.agent_status]
    last = max((each for each in beats if each), default=None)
    return (f"its agent was last heard from {words.age(now - last)} ago",) if last else ()


def _words(message: str) -> str:
    text = " ".join(refusals.bare(message).split())
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


# -- objects on a member in words ----------------------------------------------------------


DIFFERENCES_NAMED: Final = 3
MAX_VALUE: Final = 60
"""Characters shown of a value that differs."""
_COMMON: Final = frozenset({"", "apps", "batch"})
"""Groups whose kinds are usually named without the group."""
_WITH_PODS: Final = frozenset({"Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"})
_BAD_WHEN_TRUE: Final = frozenset({"Failed", "FailureTarget", "ReplicaFailure", "Stalled"})
"""Conditions of common kinds that are bad when True; all others are bad when False."""


def _title(entry: ResourceIdentifier) -> str:
    """Return `Deployment web/app`, and the envelope that the object is in, if any."""
    name = f"{entry.namespace}/{entry.name}" if entry.namespace else entry.name
    inside = f" (in {entry.envelope.type} {entry.envelope.name})" if entry.envelope else ""
    return f"{entry.kind} {name}{inside}"


def _looks(entry: ResourceIdentifier) -> list[str]:
    """Return the kubectl arguments that show the object on the member."""
    group = "" if entry.group in _COMMON else f".{entry.group}"
    flag = f" -n {entry.namespace}" if entry.namespace else ""
    found = [f"describe {entry.kind.lower()}{group} {entry.name}{flag}"]
    return [*found, f"get pods{flag}"] if entry.kind in _WITH_PODS else found


def _differences(entry: ResourceIdentifier, status: BindingStatus) -> Iterator[str]:
    """Yield the first few differences on the member, without values of Secrets."""
    found = [
        detail
        for drifted in status.drifted_placements
        if _key(drifted) == _key(entry)
        for detail in drifted.observed_drifts
    ]
    found += [
        detail
        for diffed in status.diffed_placements
        if _key(diffed) == _key(entry)
        for detail in diffed.observed_diffs
    ]
    distinct = list({each.path: each for each in found}.values())
    hidden = entry.kind == "Secret"
    for each in distinct[:DIFFERENCES_NAMED]:
        yield f"{each.path} differs" if hidden else _difference(each)
    if more := distinct[DIFFERENCES_NAMED:]:
        yield f"and {len(more)} more differ"


def _reported(entry: ResourceIdentifier, works: Iterable[WorkReport]) -> Iterator[str]:
    """Yield the object's own bad conditions, if its status is reported back to the hub."""
    for work in works:
        for manifest in work.status.manifest_conditions:
            back = manifest.back_reported_status
            if back and back.observed_status and _key(manifest.identifier) == _key(entry):
                yield from islice(_complaints(back.observed_status), DIFFERENCES_NAMED)


def _complaints(observed: dict[str, Any]) -> Iterator[str]:
    for each in observed.get("status", {}).get("conditions") or []:
        bad = "True" if each.get("type") in _BAD_WHEN_TRUE else "False"
        if each.get("status") == bad:
            said = each.get("message") or each.get("reason", "")
            yield f"its condition {each['type']} is {bad}: {said}"


def _difference(detail: PatchDetail) -> str:
    member, hub = _value(detail.value_in_member), _value(detail.value_in_hub)
    return f"{detail.path} is {member} on the member, {hub} on the hub"


def _value(text: str) -> str:
    if not text:
        return "absent"
    return text if len(text) <= MAX_VALUE else text[: MAX_VALUE - 1] + "…"


def _key(entry: ResourceIdentifier | WorkResourceIdentifier) -> tuple[str, str, str, str]:
    return entry.group, entry.kind, entry.namespace, entry.name
