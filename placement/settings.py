"""How the built-in placement behaves, where there is a choice."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from planning.placements.selecting import SelectionRules

MANAGER: Final = "fleetgate-placement"
"""Field manager of what is applied here, so that it is not mixed up with what runs apply."""

ROLLOUT_MANAGER: Final = "fleetgate-rollout"
"""Field manager of RolloutStarted: each manager's conditions of a binding are a whole of their
own, and the other ones are written at other times."""

AGENT_MANAGER: Final = "fleetgate-agent"
"""Field manager of what is said of a member in its agent's stead. It is the agent's own: so all
of it is the agent's, to change or to take back, as soon as there is one."""

REFUSAL_RECHECK: Final = timedelta(seconds=30)
"""When to try again what the API server refused: nothing tells when an operator has mended it."""


@dataclass(frozen=True, slots=True)
class PlacementSettings:
    """All of it; the defaults suit one worker for a whole fleet."""

    snapshot_on_change: bool = True
    """Write a resource snapshot soon after selected content changed (decision 1). Off, only a
    run without an index takes one, as KubeFleet has it."""

    rules: SelectionRules = field(default_factory=SelectionRules)
    """What may be placed from this hub."""

    snapshot_interval: timedelta = timedelta(seconds=5)
    """From a snapshot of changed content to the next: what changes meanwhile is stored together
    when it ends. The first snapshot of a placement and the first change after a while do not wait.
    KubeFleet lets all wait, for 15 to 30 s."""

    content_debounce: timedelta = timedelta(milliseconds=300)
    """From a change of selected content to the look at it: `kubectl apply -f folder` changes
    many objects in a row and should become one snapshot."""

    member_debounce: timedelta = timedelta(milliseconds=100)
    """From a change of a member to the look at the placements that it may matter to: when many
    members join or report at once, each placement is scheduled once."""

    report_grace: timedelta = timedelta(seconds=1)
    """How long a member may take over new content before its binding says that it is busy. One
    that is quicker costs a single write of the binding's status instead of two."""

    status_debounce: timedelta = timedelta(milliseconds=250)
    """From a change to the placement's status: all bindings that change meanwhile go into one
    write."""

    status_debounce_per_cluster: timedelta = timedelta(milliseconds=2)
    """Added for each cluster, because a placement's status is as large as its fleet: 1,000
    clusters are more than a megabyte."""

    workers: int = 16
    """Bindings looked at side by side. Each waits for one or two writes at a time; more only
    queue up in the API server."""

    leave_patience: timedelta = timedelta(minutes=15)
    """How long a member that is leaving is waited for before it is let go without its word."""

    def status_delay(self, clusters: int) -> timedelta:
        """From a change to the next look at a placement with so many clusters."""
        return self.status_debounce + clusters * self.status_debounce_per_cluster
