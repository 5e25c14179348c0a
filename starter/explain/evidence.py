"""The objects on the hub about the clusters and gates that a run waits for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import Kind
from api.members import MemberCluster
from planning.placements.binding_steps import WorkReport


@dataclass(frozen=True, slots=True)
class ClusterEvidence:
    """The objects about one cluster."""

    binding: Binding | None = None
    works: tuple[WorkReport, ...] | None = None
    """The desired objects of the member, and what it reports; None if they could not be read."""
    member: MemberCluster | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that was read besides the run itself."""

    clusters: Mapping[str, ClusterEvidence] = field(default_factory=dict)
    """By name; only the few that are shown in detail."""
    steps: tuple[str, ...] = ()
    """Step of each other cluster by its binding, such as `Available is False`; empty if unknown."""
    approvals: Mapping[str, BaseApprovalRequest] = field(default_factory=dict)
    """By name; those that the run waits for."""
    unread: tuple[str, ...] = ()
    """Plurals of the kinds that the user may not read."""

    def may_read(self, kind: Kind) -> bool:
        """Return whether the user may read objects of the kind."""
        return kind.plural not in self.unread
