"""Combining what the hub and Temporal know about a run; either may be unreachable."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from temporalio.client import Client

from api.approvals import BaseApprovalRequest
from api.kinds import EVENT
from api.names import TARGET_UPDATE_RUN
from api.rollout_decisions import BaseRolloutDecision
from api.runs import UpdateRun
from hub import Forbidden, Hub, Json, NotFound, Unavailable
from planning.events import CLUSTER_NAMESPACE, Event
from planning.identity import RunRef
from planning.runs.approval_events import NOT_COUNTED
from starter import temporal
from starter.failures import CommandFailure, ExitCode
from starter.history import in_temporal, of_objects, of_workflow
from starter.history.entries import HistoryEntry
from starter.history.in_temporal import Known
from starter.history.of_objects import Objects
from starter.targets import Target
from starter.temporal import OutOfReach

LISTED_AT_MOST: Final = 5
"""Uids listed in a message."""


@dataclass(frozen=True, slots=True)
class FoundHistory:
    """A run's history, and what is missing from it."""

    entries: list[HistoryEntry]
    missing: list[str]
    """Sources that could not be read, with the reason."""
    others: list[Known]
    """Other runs with this name, latest first."""


async def find(target: Target, name: str, *, uid: str) -> FoundHistory:
    """Find the history of the run with this name; if all were deleted, that of the latest.

    `uid` selects one by a prefix of its uid. Raises CommandFailure if no such run is known.
    """
    missing: list[str] = []
    ref = RunRef(scope_name=target.scope.name, namespace=target.namespace, name=name, uid="")
    objects = await _ask_hub(target, name, missing)
    client, known = await _ask_temporal(target, ref, missing)
    existing = [objects.run.metadata.uid] if objects else []
    uids = list(dict.fromkeys([*existing, *(each.uid for each in known)]))
    chosen = ref.model_copy(update={"uid": _choose(uids, uid, name, missing)})
    if objects and objects.run.metadata.uid != chosen.uid:
        objects = None
    entries = await _entries(client, chosen, objects, missing)
    return FoundHistory(entries, missing, [each for each in known if each.uid != chosen.uid])


async def _ask_hub(target: Target, name: str, missing: list[str]) -> Objects | None:
    try:
        async with await target.connect() as hub:
            return await _objects(hub, target, name)
    except Unavailable as error:
        missing.append(f"the hub cannot be reached: {error}")
        return None


async def _ask_temporal(
    target: Target, ref: RunRef, missing: list[str]
) -> tuple[Client | None, list[Known]]:
    try:
        client = await temporal.connect(target)
        return client, await in_temporal.find(client, ref)
    except OutOfReach as reason:
        missing.append(str(reason))
        return None, []


def _choose(uids: Sequence[str], wanted: str, name: str, missing: Sequence[str]) -> str:
    """Return the one uid that starts with `wanted`; if `wanted` is empty, the first uid.

    Raises CommandFailure if none or several match.
    """
    meant = [each for each in uids if each.startswith(wanted)]
    if len(meant) == 1 or (meant and not wanted):
        return meant[0]
    if meant:
        listed = ", ".join(meant[:LISTED_AT_MOST])
        raise CommandFailure(
            f"several runs named {name} have a uid that starts with {wanted}: {listed}"
        )
    text = f"neither run {name} nor a workflow for it was found"
    if uids:
        text = f"no run named {name} has a uid that starts with {wanted}"
    raise CommandFailure(
        "; ".join([text, *missing]),
        advice=f"known uids: {', '.join(uids[:LISTED_AT_MOST])}" if uids else "",
        exit_code=ExitCode.NOT_FOUND,
    )


async def _entries(
    client: Client | None, ref: RunRef, objects: Objects | None, missing: list[str]
) -> list[HistoryEntry]:
    """Return the entries of the workflow with additions from the objects, or those of one alone."""
    from_workflow = await _workflow(client, ref, missing) if client else []
    if from_workflow and objects:
        return of_objects.beside(from_workflow, objects)
    return from_workflow or (of_objects.entries(objects) if objects else [])


async def _workflow(client: Client, ref: RunRef, missing: list[str]) -> list[HistoryEntry]:
    try:
        events = await in_temporal.history(client, ref)
    except OutOfReach as reason:
        missing.append(str(reason))
        return []
    if not events:
        missing.append("Temporal has no workflow for this run")
    return of_workflow.entries(events, client.data_converter.payload_converter)


# -- on the hub ----------------------------------------------------------------------------


async def _objects(hub: Hub, target: Target, name: str) -> Objects | None:
    """Read a run's objects, or return None if there is no run with this name; raises HubError."""
    found = await hub.find(target.scope.run, name, namespace=target.namespace)
    if found is None:
        return None
    run = UpdateRun.from_wire(found)
    requests = await _requests(hub, target, name)
    uids = {each.metadata.uid for each in requests}
    warnings = await _events(hub, target, f"reason={NOT_COUNTED}")
    return Objects(
        run=run,
        requests={each.metadata.name: each for each in requests},
        events=_as_events(await _events(hub, target, f"involvedObject.uid={run.metadata.uid}")),
        warnings=_as_events(each for each in warnings if each["involvedObject"]["uid"] in uids),
        decisions=tuple(await _decisions(hub, target, run)),
    )


async def _requests(hub: Hub, target: Target, name: str) -> list[BaseApprovalRequest]:
    labels = f"{TARGET_UPDATE_RUN}={name}"
    found = await hub.list(target.scope.approval, namespace=target.namespace, labels=labels)
    return [BaseApprovalRequest.from_wire(each) for each in found.items]


async def _decisions(hub: Hub, target: Target, run: UpdateRun) -> list[BaseRolloutDecision]:
    """Return the decisions about a run, also those that were made without its UID."""
    try:
        found = (await hub.list(target.scope.decision, namespace=target.namespace)).items
    except (Forbidden, NotFound):
        return []  # They only add detail, and an older hub does not serve them.
    decisions = map(BaseRolloutDecision.from_wire, found)
    meant = ("", run.metadata.uid)
    return [
        each
        for each in decisions
        if each.spec.run == run.metadata.name
        and each.spec.run_uid in meant
        and each.metadata.creation_timestamp
        and run.metadata.creation_timestamp
        and each.metadata.creation_timestamp >= run.metadata.creation_timestamp
    ]


async def _events(hub: Hub, target: Target, fields: str) -> list[Json]:
    namespace = target.namespace or CLUSTER_NAMESPACE
    try:
        return (await hub.list(EVENT, namespace=namespace, fields=fields)).items
    except Forbidden:
        return []  # Events only add detail, and the user may read runs without reading events.


def _as_events(bodies: Iterable[Json]) -> tuple[Event, ...]:
    return tuple(map(_event, bodies))


def _event(body: Json) -> Event:
    # Recorders of the older API leave out eventTime, which has microseconds.
    at = body.get("eventTime") or body.get("lastTimestamp")
    at = at or body["metadata"]["creationTimestamp"]
    return Event(reason=body.get("reason", ""), message=body.get("message", ""), at=at)
