"""What a run has to know about the hub: names, indexes and the labels that decide.

Facts travel through workflow history, so they never hold a manifest (design D3).
"""

import hashlib
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from api.applying import ApplyStrategy
from api.runs import UpdateRunSpec
from api.strategies import StrategySpec
from planning.overrides.applicable import ClusterOverrides


class Fact(BaseModel):
    """Base of all facts: immutable, unknown keys of a newer version ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class PlacementFact(Fact):
    """The placement that a run rolls out."""

    strategy_type: str
    apply_strategy: ApplyStrategy
    """With its defaults filled in."""


class PolicyFact(Fact):
    """One policy snapshot that claims to be the latest."""

    name: str
    index: str
    """Value of the policy-index label; empty when missing."""
    placement_type: str = "PickAll"
    cluster_names: int = 0
    """How many clusters a PickFixed policy names."""
    cluster_count: str | None = None
    """Raw annotation number-of-clusters of a PickN policy."""
    scheduled: bool = False
    """Condition Scheduled is True for the snapshot's generation."""
    looked_at: bool = True
    """The scheduler has decided about the snapshot as it is, whatever it decided."""


class BindingFact(Fact):
    """One binding of the placement."""

    name: str
    cluster: str
    policy_snapshot: str
    state: str
    deleting: bool = False
    since: datetime | None = None
    """Since when the binding has a content that is not the run's; None when it has the run's, when
    it cannot be told, or when nobody asked."""


class ClusterFact(Fact):
    """One member cluster with those of its labels that decide about stages."""

    name: str
    labels: dict[str, str] = {}


class HubFacts(Fact):
    """Everything that initialization and validation look at, as of one moment."""

    spec: UpdateRunSpec
    generation: int
    placement: PlacementFact | None = None
    policies: list[PolicyFact] = []
    bindings: list[BindingFact] = []
    """Sorted by name."""
    strategy: StrategySpec | None = None
    clusters: list[ClusterFact] = []
    """Sorted by name; only those that a stage may select need be here."""

    @property
    def digest(self) -> str:
        """Of all that decides whether a run may go on; equal facts have the same."""
        decisive = self.model_dump_json(exclude={"spec", "generation"})
        return hashlib.sha256(decisive.encode()).hexdigest()


class SnapshotFacts(Fact):
    """The resource snapshot that a run rolls out."""

    index: str
    name: str
    """Name of the master snapshot."""
    overrides: list[ClusterOverrides] = []
