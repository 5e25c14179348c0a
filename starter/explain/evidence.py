"""What the hub has of the clusters and gates that a run waits for."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import Kind
from api.members import MemberCluster
from planning.placements.binding_steps import WorkReport


@dataclass(frozen=True, slots=True)
class ClusterEvidence:
    """What the hub has of one cluster."""

    binding: Binding | None = None
    works: tuple[WorkReport, ...] | None = None
    """What the member was told to have, and what it reports; None if that could not be read."""
    member: MemberCluster | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that was read beside the run itself."""

    clusters: Mapping[str, ClusterEvidence] = field(default_factory=dict)
    """By name; only the few that are named."""
    steps: tuple[str, ...] = ()
    """Where the others are by their bindings, such as `Available is False`; empty if unknown."""
    approvals: Mapping[str, BaseApprovalRequest] = field(default_factory=dict)
    """By name; those that the run waits for."""
    unread: tuple[str, ...] = ()
    """Plurals of the kinds that the person may not read."""

    def may_read(self, kind: Kind) -> bool:
        """Whether objects of the kind could be read."""
        return kind.plural not in self.unread
