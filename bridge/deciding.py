"""The parts of an object whose change can affect a run in progress.

contract: update-runs 9
"""

from collections.abc import Callable, Hashable

from api.policies import PolicySnapshot
from hub import Change, Json
from planning.runs import observing

Deciding = Callable[[Json], object]
"""Extracts the relevant part of an object, which is only compared."""


def of_binding(body: Json) -> Hashable:
    """Return the relevant part of a binding, without parsing it, because this is called often.

    The change from Scheduled to Bound is not part of it: the run makes it itself.
    """
    spec = body["spec"]
    leaving = spec["state"] == "Unscheduled"
    return spec["targetCluster"], spec["schedulingPolicySnapshotName"], leaving


def of_policy(body: Json) -> object:
    """Return the facts about a policy snapshot from which a run is planned."""
    return observing.policy_fact(PolicySnapshot.from_wire(body))


def of_cluster(body: Json) -> object:
    """Return a cluster's labels; not its heartbeat, which changes all the time."""
    return body["metadata"].get("labels", {})


def differs(change: Change, deciding: Deciding) -> bool:
    """Return whether the relevant part differs; a missing object differs from any other."""
    old, new = (deciding(body) if body else None for body in (change.old, change.new))
    return old != new
