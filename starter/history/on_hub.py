"""Reading a run's objects on the hub: the run, its approval requests, the events on them."""

from collections.abc import Iterable

from api.approvals import BaseApprovalRequest
from api.kinds import EVENT
from api.names import TARGET_UPDATE_RUN
from api.runs import UpdateRun
from hub import Forbidden, Hub, Json
from planning.events import CLUSTER_NAMESPACE, Event
from planning.runs.approval_events import NOT_COUNTED
from starter.history.of_objects import Objects
from starter.targets import Target


async def read(hub: Hub, target: Target, name: str) -> Objects | None:
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
        events=_of(await _events(hub, target, f"involvedObject.uid={run.metadata.uid}")),
        warnings=_of(each for each in warnings if each["involvedObject"]["uid"] in uids),
    )


async def _requests(hub: Hub, target: Target, name: str) -> list[BaseApprovalRequest]:
    labels = f"{TARGET_UPDATE_RUN}={name}"
    found = await hub.list(target.scope.approval, namespace=target.namespace, labels=labels)
    return [BaseApprovalRequest.from_wire(each) for each in found.items]


async def _events(hub: Hub, target: Target, fields: str) -> list[Json]:
    namespace = target.namespace or CLUSTER_NAMESPACE
    try:
        return (await hub.list(EVENT, namespace=namespace, fields=fields)).items
    except Forbidden:
        return []  # Events only add detail, and the user may read runs without reading events.


def _of(bodies: Iterable[Json]) -> tuple[Event, ...]:
    return tuple(map(_event, bodies))


def _event(body: Json) -> Event:
    # Recorders of the older API leave out eventTime, which has microseconds.
    at = body.get("eventTime") or body.get("lastTimestamp")
    at = at or body["metadata"]["creationTimestamp"]
    return Event(reason=body.get("reason", ""), message=body.get("message", ""), at=at)
