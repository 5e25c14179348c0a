"""Rules that must hold for a run, whatever failed while it ran. Pure: writes in, violations out.

Writes are compared by their revision, which is the order in which they took effect.

contract: update-runs 8 and 10, decision 5 (a wait keeps its start)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from hub import Json
from tests.soak import statuses
from tests.soak.history import Write
from tests.soak.orders import End, StageOrder
from tests.soak.trails import Case, approval_of, is_available
from tests.support.conditions import condition_of, says

WHOLE_SECONDS: Final = timedelta(seconds=1)
"""Tolerance for waits, which count from a condition's time without fractions of seconds."""


@dataclass(frozen=True)
class Violation:
    """A violation of a rule."""

    rule: str
    run: str
    text: str


def judge(case: Case) -> list[Violation]:
    """Return all violations in a run."""
    return [Violation(name, case.name, text) for name, rule in RULES.items() for text in rule(case)]


def _ended_as_asked(case: Case) -> Iterator[str]:
    end, last = case.order.end, case.last
    if not last:
        yield "nothing is known about the run"
    elif end is End.SUCCESS and says(last, "Succeeded")[:2] != ("True", "UpdateRunSucceeded"):
        yield f"it did not succeed: {last.get('status', {}).get('conditions')}"
    elif end is End.OVERTAKEN:
        status, reason, text = says(last, "Succeeded")
        if (status, reason) != ("False", "UpdateRunFailed") or "concurrent updateRun" not in text:
            yield f"it did not fail because it was overtaken: {(status, reason, text)}"
    elif end is End.DELETED and case.run[-1].body is not None:
        yield "it was deleted but still exists"


def _written_once(case: Case) -> Iterator[str]:
    for cluster, rollout in case.rollouts.items():
        if rollout.written > 1:
            yield f"binding of {cluster} was written {rollout.written} times"
    if case.order.end is End.SUCCESS:
        for cluster in case.bindings:
            if cluster not in case.rollouts or case.rollouts[cluster].written == 0:
                yield f"binding of {cluster} was never written"


def _never_back(case: Case) -> Iterator[str]:
    """Check that a binding's content only becomes newer, as each run rolls out newer content."""
    for cluster, writes in case.bindings.items():
        known = -1
        for write in writes:
            index = _index(write.body)
            if index < known:
                yield f"binding of {cluster} went back from {known} to {index} ({write.by})"
            known = max(known, index)


def _index(binding: Json | None) -> int:
    """Return the index of the snapshot that a binding names; -1 if it names none."""
    name: str = (binding or {}).get("spec", {}).get("resourceSnapshotName", "")
    return int(name.removesuffix("-snapshot").rpartition("-")[2]) if name else -1


def _stage_by_stage(case: Case) -> Iterator[str]:
    earlier: list[str] = []
    for clusters in case.stages.values():
        for cluster in clusters:
            begun = _begun(case, cluster)
            late = [each for each in earlier if begun and not _finished(case, each, begun)]
            if late:
                yield f"{cluster} started before {', '.join(late)} of an earlier stage were done"
        earlier += clusters


def _in_turn(case: Case) -> Iterator[str]:
    """Check that a cluster starts when all but maxConcurrency - 1 clusters before it are done."""
    for stage in case.order.stages:
        clusters = case.stages[stage.name]
        for place, cluster in enumerate(clusters):
            begun = _begun(case, cluster)
            done = [each for each in clusters[:place] if begun and _finished(case, each, begun)]
            if begun and len(done) < place - stage.at_once + 1:
                yield f"{cluster} started out of order: only {done} before it were done"


def _never_more_at_once(case: Case) -> Iterator[str]:
    for stage in case.order.stages:
        clusters = case.stages[stage.name]
        for cluster in clusters:
            begun = _begun(case, cluster)
            if begun is None:
                continue
            under_way = [
                each
                for each in clusters
                if (other := _begun(case, each))
                and other.revision <= begun.revision
                and not _finished(case, each, begun)
            ]
            if len(under_way) > stage.at_once:
                yield f"{under_way} were in flight at once, but the limit is {stage.at_once}"


def _gates_hold(case: Case) -> Iterator[str]:
    """Check that nothing passes a gate: a stage before its approval, the next before its gates."""
    for place, stage in enumerate(case.order.stages):
        here = [each for each in map(_begin_of(case), case.stages[stage.name]) if each]
        after = [
            each
            for later in case.order.stages[place + 1 :]
            for each in map(_begin_of(case), case.stages[later.name])
            if each
        ] + _end_of(case, stage)
        if stage.before:
            yield from _not_before_approval(case, case.request(stage.name, "before"), here)
        if stage.after:
            yield from _not_before_approval(case, case.request(stage.name, "after"), after)
        if stage.wait is not None:
            yield from _not_before_wait(case, stage, stage.wait, after)


def _end_of(case: Case, stage: StageOrder) -> list[Write]:
    """Return the first write that reports that a stage has succeeded."""
    return [
        write
        for write in case.statuses
        if condition_of(statuses.stage(write.body or {}, stage.name), "Succeeded").get("status")
        == "True"
    ][:1]


def _not_before_approval(case: Case, request: str, writes: list[Write]) -> Iterator[str]:
    given = approval_of(case.approvals.get(request, ()))
    for write in writes:
        if given is None or write.revision < given.revision:
            yield f"{'/'.join(write.address)} was written without the approval {request}"


def _not_before_wait(
    case: Case, stage: StageOrder, wait: timedelta, writes: list[Write]
) -> Iterator[str]:
    done = _done_at(case, stage)
    for write in writes:
        if done and write.at and write.at < done + wait - WHOLE_SECONDS:
            early = done + wait - write.at
            yield f"{'/'.join(write.address)} was written {early} before {stage.name} had waited"


def _done_at(case: Case, stage: StageOrder) -> datetime | None:
    """Return when the last cluster of a stage was done; None if unknown."""
    rollouts = [case.rollouts.get(each) for each in case.stages[stage.name]]
    times = [each.finished.at if each and each.finished else None for each in rollouts]
    return max((each for each in times if each), default=None)


def _nothing_begins_while_stopped(case: Case) -> Iterator[str]:
    for cluster, rollout in case.rollouts.items():
        run = case.at(rollout.begun.revision)
        stopped = says(run, "Progressing")[1] in ("UpdateRunStopping", "UpdateRunStopped")
        if (
            stopped
            and run["spec"]["state"] == "Stop"
            and not condition_of(statuses.cluster(run, cluster), "Started")
        ):
            yield f"{cluster} was started while the run was stopped"


def _no_approval_lost(case: Case) -> Iterator[str]:
    if case.order.end is End.DELETED:
        return
    for request in sorted(case.approved):
        writes = case.approvals.get(request, ())
        last = writes[-1].body if writes else None
        if last is None:
            yield f"{request} was approved but no longer exists"
        elif condition_of(last, "Approved").get("status") != "True":
            yield f"{request} was approved but no longer shows it"
        elif (
            case.order.end is End.SUCCESS
            and condition_of(last, "ApprovalAccepted").get("status") != "True"
        ):
            yield f"{request} was approved but not accepted"


def _asked_once(case: Case) -> Iterator[str]:
    for request, writes in case.approvals.items():
        ids = dict.fromkeys(each.body["metadata"]["uid"] for each in writes if each.body)
        if len(ids) > 1:
            yield f"{request} was created {len(ids)} times"


def _world_is_as_said(case: Case) -> Iterator[str]:
    """Check that bindings and members have what a successful run rolled out."""
    if case.order.end is not End.SUCCESS:
        return
    for cluster, writes in case.bindings.items():
        binding = writes[-1].body or {}
        spec = binding.get("spec", {})
        if (spec.get("resourceSnapshotName"), spec.get("state")) != (case.snapshot, "Bound"):
            yield f"binding of {cluster} has {spec.get('resourceSnapshotName')} at the end"
        elif not is_available(binding):
            yield f"binding of {cluster} is not available at the end"
    for cluster, image in case.images.items():
        if image != case.order.image:
            yield f"{cluster} has {image} at the end, not {case.order.image}"


def _begin_of(case: Case) -> Callable[[str], Write | None]:
    return lambda cluster: _begun(case, cluster)


def _begun(case: Case, cluster: str) -> Write | None:
    found = case.rollouts.get(cluster)
    return found.begun if found else None


def _finished(case: Case, cluster: str, by: Write) -> bool:
    """Return whether a cluster was done before a write."""
    found = case.rollouts.get(cluster)
    return bool(found and found.finished and found.finished.revision < by.revision)


RULES: Final[dict[str, Callable[[Case], Iterator[str]]]] = {
    "ends as asked": _ended_as_asked,
    "each binding once": _written_once,
    "content never goes back": _never_back,
    "stage by stage": _stage_by_stage,
    "clusters in turn": _in_turn,
    "maxConcurrency": _never_more_at_once,
    "gates hold": _gates_hold,
    "nothing while stopped": _nothing_begins_while_stopped,
    "no approval lost": _no_approval_lost,
    "asked once": _asked_once,
    "the world is as said": _world_is_as_said,
    "the plan is as asked": statuses.planned_as_asked,
    "only known conditions": statuses.only_known_conditions,
    "status never goes back": statuses.never_back,
    "times stay": statuses.times_stay,
    "all conditions at the end": statuses.complete,
}
"""Every rule by its name."""
