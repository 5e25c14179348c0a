"""The status of a placement, from its scheduling decisions and bindings.

contract: placement 7.1 to 7.5
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from api.base import Condition
from api.bindings import Binding
from api.kinds import Kind, Scope
from api.placements import (
    ClusterPlacementStatus,
    Placement,
    PlacementStatus,
    ResourceIdentifier,
    RolloutStrategyType,
)
from api.policies import ClusterDecision, PolicySnapshot
from api.reasons import (
    AGGREGATES,
    ConditionType,
    PlacementMessage,
    PlacementReason,
    Wording,
    invalid_selectors,
    no_version_yet,
    placement_condition,
    start_unknown,
)
from api.scheduling import PlacementType
from planning import conditions
from planning.placements import policy_snapshots, snapshotting
from planning.placements.cluster_status import Chain, Frame, chain_of, not_picked, picked


@dataclass(frozen=True, slots=True)
class View:
    """Everything that a placement's status is derived from, as of one moment."""

    scope: Scope
    placement: Placement
    now: datetime
    selection_error: str = ""
    """Why the placement's selectors are not valid; empty if they are."""
    policy: PolicySnapshot | None = None
    """The latest policy snapshot."""
    bindings: Sequence[Binding] = ()
    contents: Mapping[str, Sequence[dict[str, Any]]] = field(default_factory=dict)
    """Selected objects of each existing index, oldest first."""
    indexes: Mapping[str, str] = field(default_factory=dict)
    """Index of each existing resource snapshot, by its name."""

    @property
    def generation(self) -> int:
        """Generation of the placement."""
        return self.placement.metadata.generation

    @property
    def newest_index(self) -> str:
        """Index of the newest content; empty if there is none."""
        return next(reversed(list(self.contents)), "")

    @property
    def newest(self) -> str:
        """Name of the master snapshot of the newest content; empty if there is none."""
        index = self.newest_index
        return snapshotting.master_name(self.placement.metadata.name, index) if index else ""

    @property
    def is_external(self) -> bool:
        """True when runs roll the placement out."""
        return self.placement.spec.strategy.type == RolloutStrategyType.EXTERNAL


_Entries = Sequence[ClusterPlacementStatus]
"""The placement's status entries of picked clusters; at least one."""


@dataclass(frozen=True, slots=True)
class _Saying:
    """A condition over all clusters."""

    kind: ConditionType
    status: str
    reason: str
    message: str


def status(view: View) -> PlacementStatus:
    """Return the status that the placement should have."""
    old = view.placement.status
    if view.selection_error:
        text = invalid_selectors(view.selection_error)
        saying = _Saying(ConditionType.SCHEDULED, "False", PlacementReason.INVALID_SELECTORS, text)
        return old.model_copy(update={"conditions": _kept_but(view, saying)})
    scheduled = _decided(view)
    if view.policy is None or scheduled is None:
        message = PlacementMessage.SCHEDULE_PENDING
        reason = PlacementReason.SCHEDULE_PENDING
        saying = _Saying(ConditionType.SCHEDULED, "Unknown", reason, message)
        return old.model_copy(
            update={"conditions": _kept_but(view, saying), "placement_statuses": []}
        )
    return _of_clusters(view, view.policy, scheduled)


def _decided(view: View) -> Condition | None:
    """Return the scheduler's verdict on the current generation; None before there is a verdict."""
    policy = view.policy
    if policy is None or policy.status.observed_crp_generation != view.generation:
        return None
    found = conditions.find(policy.status.conditions, ConditionType.SCHEDULED)
    if found is None or found.observed_generation != policy.metadata.generation:
        return None
    return found if found.status in ("True", "False") else None


def _of_clusters(view: View, policy: PolicySnapshot, verdict: Condition) -> PlacementStatus:
    scheduled = _Saying(ConditionType.SCHEDULED, verdict.status, verdict.reason, verdict.message)
    entries = list(_picked_entries(view, policy))
    missing = [not_picked(each, _frame(view)) for each in _missing(policy)]
    result = PlacementStatus(placement_statuses=[*entries, *missing])
    result.conditions = _conditions(view, [scheduled, *_aggregates(view, entries)])
    if index := _listed_index(view, entries):
        result.observed_resource_index = index
        result.selected_resources = [_identifier(each) for each in view.contents[index]]
    return result


def _aggregates(view: View, entries: list[ClusterPlacementStatus]) -> Iterable[_Saying]:
    """Return the conditions over all clusters; none if no cluster is picked."""
    if not entries:
        return ()
    chain = chain_of(view.placement)
    if view.is_external:
        return _controlled_by_runs(entries, chain=chain, run=view.scope.run)
    return _by_chain(entries, chain=chain)


def _listed_index(view: View, entries: list[ClusterPlacementStatus]) -> str:
    """Return the index whose resources the status lists; empty for none.

    A rolling update lists the newest one even if no cluster is picked.
    """
    if not view.is_external:
        return view.newest_index
    return _observed_index(entries) if entries else ""


def _frame(view: View) -> Frame:
    return Frame(
        chain=chain_of(view.placement),
        generation=view.generation,
        indexes=view.indexes,
        now=view.now,
        wanted="" if view.is_external else view.newest,
    )


def _picked_entries(view: View, policy: PolicySnapshot) -> Iterator[ClusterPlacementStatus]:
    frame = _frame(view)
    before = {each.cluster_name: each for each in view.placement.status.placement_statuses}
    bindings = {
        each.spec.target_cluster: each
        for each in view.bindings
        if each.spec.scheduling_policy_snapshot_name == policy.metadata.name
        and each.metadata.deletion_timestamp is None
    }
    for decision in policy.status.target_clusters:
        if decision.selected:
            name = decision.cluster_name
            yield picked(decision, bindings.get(name), frame, before=before.get(name))


def _missing(policy: PolicySnapshot) -> list[ClusterDecision]:
    """Return one decision against a cluster for each cluster that the policy wants and lacks."""
    rules = policy_snapshots.in_force(policy).policy
    if rules is None or rules.placement_type == PlacementType.PICK_ALL:
        return []
    decisions = policy.status.target_clusters
    refused = [each for each in decisions if not each.selected]
    wanted = rules.number_of_clusters
    if wanted is None:
        wanted = len(set(rules.cluster_names))
    return refused[: max(0, wanted - (len(decisions) - len(refused)))]


def _kept_but(view: View, saying: _Saying) -> list[Condition]:
    """Return the placement's conditions with one of them replaced."""
    kept = list(view.placement.status.conditions)
    conditions.put(kept, _condition(view, saying))
    return kept


def _conditions(view: View, sayings: Sequence[_Saying]) -> list[Condition]:
    """Return these conditions in this order; unchanged ones keep their times."""
    return [_condition(view, each) for each in sayings]


def _condition(view: View, saying: _Saying) -> Condition:
    kind = placement_condition(view.scope.placement, saying.kind)
    kept = [each for each in view.placement.status.conditions if each.type == kind]
    new = conditions.make(
        kind,
        saying.status,
        saying.reason,
        saying.message,
        generation=view.generation,
        now=view.now,
    )
    conditions.put(kept, new)
    return kept[0]


def _identifier(resource: dict[str, Any]) -> ResourceIdentifier:
    group, _, version = resource["apiVersion"].rpartition("/")
    metadata = resource["metadata"]
    fields = {"group": group, "namespace": metadata.get("namespace", "")}
    said = {name: value for name, value in fields.items() if value}
    return ResourceIdentifier(version=version, kind=resource["kind"], name=metadata["name"], **said)


# -- conditions over all clusters, from the entries for each ------------------------------


def _observed_index(entries: _Entries) -> str:
    """Return the index that all clusters have; empty while they differ or have none."""
    indexes = {each.observed_resource_index for each in entries}
    return indexes.pop() if len(indexes) == 1 else ""


def _controlled_by_runs(entries: _Entries, *, chain: Chain, run: Kind) -> Iterator[_Saying]:
    """Return the conditions of a placement that runs roll out; `run` is the kind of the runs."""
    unclear = _unclear(entries, run)
    if unclear:
        yield _Saying(ConditionType.ROLLOUT_STARTED, "Unknown", PlacementReason.EXTERNAL, unclear)
    else:
        yield from _by_chain(entries, chain=chain)


def _unclear(entries: _Entries, run: Kind) -> str:
    """Return why it is unknown whether the rollout has started (contract: placement 7.3)."""
    if any(a.observed_resource_index != b.observed_resource_index for a, b in pairwise(entries)):
        return PlacementMessage.VERSIONS_DIFFER
    if not _observed_index(entries):
        return no_version_yet(run)
    for entry in entries:
        if conditions.has(entry.conditions, ConditionType.ROLLOUT_STARTED, "Unknown"):
            return start_unknown(entry.cluster_name)
    return ""


def _by_chain(entries: _Entries, *, chain: Chain) -> Iterator[_Saying]:
    """Return the conditions in order, up to the first that is not True on all clusters.

    contract: placement 7.4
    """
    for kind in chain:
        found = [conditions.find(entry.conditions, kind) for entry in entries]
        statuses = [each.status if each else "Unknown" for each in found]
        worst = next((each for each in ("Unknown", "False") if each in statuses), "True")
        wording = _wording(kind, worst, entries)
        yield _Saying(kind, worst, wording.reason, wording.count(statuses.count(worst)))
        if worst != "True":
            return


def _wording(kind: ConditionType, status: str, entries: _Entries) -> Wording:
    words = AGGREGATES[kind]
    if status != "True":
        return words.unknown if status == "Unknown" else words.failed
    overridden = any(
        entry.applicable_cluster_resource_overrides or entry.applicable_resource_overrides
        for entry in entries
    )
    if kind == ConditionType.OVERRIDDEN and not overridden:
        return Wording(PlacementReason.NO_OVERRIDE, PlacementMessage.NO_OVERRIDE)
    return words.done
