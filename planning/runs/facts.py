"""Facts that a run needs from the hub: names, indexes and the labels that decide.

Facts are stored in workflow history, so they never hold a manifest (decision record 0038).
"""

import hashlib
from datetime import datetime

from pydantic import BaseModel, ConfigDict

from api.applying import ApplyStrategy
from api.runs import UpdateRunSpec
from api.strategies import StrategySpec
from planning.overrides.matching import ClusterOverrides


class Fact(BaseModel):
    """Base of all facts: immutable; unknown keys from a newer version are ignored."""

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
    """Number of clusters that a PickFixed policy names."""
    cluster_count: str | None = None
    """Raw annotation number-of-clusters of a PickN policy."""
    scheduled: bool = False
    """Condition Scheduled is True for the snapshot's generation."""
    looked_at: bool = True
    """The scheduler has decided about the current snapshot, whatever the result."""


class BindingFact(Fact):
    """One binding of the placement."""

    name: str
    cluster: str
    policy_snapshot: str
    state: str
    deleting: bool = False
    since: datetime | None = None
    """Since when the binding has other content than the run's; None if it has the run's, if that
    is unknown, or if it was not determined."""


class ClusterFact(Fact):
    """One member cluster with the labels that decide about its stage."""

    name: str
    labels: dict[str, str] = {}


class HubFacts(Fact):
    """Everything that initialization and validation read, as of one moment."""

    spec: UpdateRunSpec
    generation: int
    placement: PlacementFact | None = None
    policies: list[PolicyFact] = []
    bindings: list[BindingFact] = []
    """Sorted by name."""
    strategy: StrategySpec | None = None
    clusters: list[ClusterFact] = []
    """Sorted by name; clusters that no stage may select can be left out."""

    @property
    def digest(self) -> str:
        """Hash of everything that decides whether a run may continue."""
        decisive = self.model_dump_json(exclude={"spec", "generation"})
        return hashlib.sha256(decisive.encode()).hexdigest()


class SnapshotFacts(Fact):
    """The resource snapshot that a run rolls out."""

    index: str
    name: str
    """Name of the master snapshot."""
    overrides: list[ClusterOverrides] = []
