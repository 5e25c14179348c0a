"""Settings of the built-in placement."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from planning.placements.selecting import SelectionRules

MANAGER: Final = "fleetgate-placement"
"""Field manager of what is applied here, to keep it apart from what runs apply."""

ROLLOUT_MANAGER: Final = "fleetgate-rollout"
"""Field manager of RolloutStarted. An apply replaces all conditions of its manager, and the other
conditions of a binding are written at other times."""

AGENT_MANAGER: Final = "fleetgate-agent"
"""Field manager of what is reported on behalf of a member's agent. It is the agent's own manager,
so that the agent can change or remove all of it as soon as it runs."""

REFUSAL_RECHECK: Final = timedelta(seconds=30)
"""When to retry what the API server refused: no event says when an operator has fixed it."""


@dataclass(frozen=True, slots=True)
class PlacementSettings:
    """Settings of the built-in placement; the defaults suit one worker for a whole fleet."""

    snapshot_on_change: bool = True
    """Write a resource snapshot soon after selected content has changed (contract decision 1). If
    off, only a run without an index takes one, as in KubeFleet."""

    rules: SelectionRules = field(default_factory=SelectionRules)
    """What may be placed from this hub."""

    snapshot_interval: timedelta = timedelta(seconds=5)
    """Minimum time between two snapshots of changed content: changes in the meantime are stored
    together at its end. The first snapshot of a placement and the first change after a pause do
    not wait. In KubeFleet all of them wait for 15 to 30 s."""

    content_debounce: timedelta = timedelta(milliseconds=300)
    """Delay from a change of selected content to its selection: `kubectl apply -f folder` changes
    many objects in a row and should become one snapshot."""

    member_debounce: timedelta = timedelta(milliseconds=100)
    """Delay from a change of a member to scheduling: if many members join or report at once, each
    placement is scheduled once."""

    report_grace: timedelta = timedelta(seconds=1)
    """How long a member may take for new content before its binding reports it as in progress. A
    faster member costs one write of the binding's status instead of two."""

    status_debounce: timedelta = timedelta(milliseconds=250)
    """Delay from a change to the placement's status: all bindings that change in the meantime are
    part of one write."""

    status_debounce_per_cluster: timedelta = timedelta(milliseconds=2)
    """Added to the delay per cluster, because a placement's status grows with its fleet: 1,000
    clusters are more than a megabyte."""

    workers: int = 16
    """Bindings that are reconciled in parallel. Each waits for one or two writes at a time; more
    would only queue up in the API server."""

    leave_patience: timedelta = timedelta(minutes=15)
    """How long to wait for the agent of a leaving member before removing the member without it."""

    def status_delay(self, clusters: int) -> timedelta:
        """Return the delay from a change to the status of a placement with this many clusters."""
        return self.status_debounce + clusters * self.status_debounce_per_cluster
