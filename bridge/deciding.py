"""What of an object can make a difference to a run under way.

contract: update-runs 9
"""

from collections.abc import Callable, Hashable

from api.policies import PolicySnapshot
from hub import Change, Json
from planning.runs import observing

Deciding = Callable[[Json], object]
"""Takes from an object what decides; only compared."""


def of_binding(body: Json) -> Hashable:
    """Not the step from Scheduled to Bound, which is the run's own; read often, so not parsed."""
    spec = body["spec"]
    leaving = spec["state"] == "Unscheduled"
    return spec["targetCluster"], spec["schedulingPolicySnapshotName"], leaving


def of_policy(body: Json) -> object:
    """All that a plan is made from."""
    return observing.policy_fact(PolicySnapshot.from_wire(body))


def of_cluster(body: Json) -> object:
    """Its labels; not the heartbeat, which comes all the time."""
    return body["metadata"].get("labels", {})


def differs(change: Change, deciding: Deciding) -> bool:
    """Whether a change, or one side of it being absent, makes a difference."""
    old, new = (deciding(body) if body else None for body in (change.old, change.new))
    return old != new
