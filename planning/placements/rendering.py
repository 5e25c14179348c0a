"""Rendering a binding's content as Works for its member.

contract: placement 8 (names, labels, annotations, when a Work is rewritten), 10
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api import names
from api.applying import ReportBackStrategy
from api.bindings import Binding
from api.names import member_namespace
from api.outcomes import EnvelopeIdentifier
from api.reasons.bindings import SNAPSHOT_INCOMPLETE, BindingMessage
from planning import envelopes, hashing, integers
from planning.envelopes import Served
from planning.placements import snapshotting
from planning.resource_order import Identity, identify

Json = dict[str, Any]
Override = Callable[[Sequence[Json]], list[Json]]
"""Applies the overrides of one cluster to objects."""


class MissingSnapshotError(Exception):
    """The snapshot that a binding names is missing or incomplete."""


@dataclass(frozen=True, slots=True)
class BindingOwner:
    """The placement that a binding belongs to."""

    name: str
    namespace: str
    """Empty for a cluster-scoped placement."""
    report_back: ReportBackStrategy | None = None

    @property
    def base(self) -> str:
        """Prefix of the names of its Works."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class WorkChanges:
    """Writes and deletions that give the member the binding's content."""

    writes: tuple[Json, ...]
    deletions: tuple[str, ...]
    """Names of Works that are no longer needed."""
    names: tuple[str, ...]
    """Names of all Works of the content, sorted."""
    marks: Mapping[str, Json] = field(default_factory=dict)
    """Annotations that Works with the right content lack, by name."""


def changes(
    binding: Binding,
    source: BindingOwner,
    *,
    snapshots: Iterable[Json],
    works: Sequence[Json],
    override: Override = list,
    served: Served = envelopes.unknown,
) -> WorkChanges:
    """Compare a binding's content with its Works; `override` applies the cluster's overrides.

    `served` returns the kinds that the hub serves, to check the content of envelopes.

    Works that already carry the content are left alone, even if the snapshot or an override has
    been pruned since. Raises MissingSnapshotError if Works have to be written and the snapshot is
    missing, EnvelopeError, and whatever `override` raises.
    """
    present = {each["metadata"]["name"]: each for each in works}
    wanted_by_all = _parent_marks(binding)
    try:
        parts = _parts(binding.spec.resource_snapshot_name, snapshots)
    except MissingSnapshotError:
        if works and all(_is_current(each, wanted_by_all, binding, source) for each in works):
            return WorkChanges((), (), tuple(sorted(present)))
        raise
    wanted = {each.name: each for part in parts for each in _pieces(source, part)}
    writes = tuple(
        _body(piece, binding, source, piece.manifests(override, served))
        for name, piece in wanted.items()
        if name not in present or not _is_current(present[name], wanted_by_all, binding, source)
    )
    marks = {
        name: _again(binding)
        for name in sorted(wanted.keys() & present.keys() - {_name(each) for each in writes})
        if _again(binding).items() - present[name]["metadata"].get("annotations", {}).items()
    }
    superfluous = tuple(sorted(present.keys() - wanted))
    return WorkChanges(writes, superfluous, tuple(sorted(wanted)), marks)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Content of one Work: the objects of a snapshot, or those of an envelope in it."""

    name: str
    index: str
    resources: Sequence[Json]
    envelope: EnvelopeIdentifier | None = None

    def manifests(self, override: Override, served: Served) -> list[Json]:
        """Return the objects as the cluster gets them."""
        if self.envelope is None:
            return override(self.resources)
        for each in self.resources:
            envelopes.content(each, served)  # Errors are about the envelope before overrides.
        overridden = override(self.resources)
        return [each for one in overridden for each in envelopes.content(one, served)]

    @property
    def labels(self) -> dict[str, str]:
        """Labels that identify the envelope; empty without one."""
        if self.envelope is None:
            return {}
        labels = {
            names.ENVELOPE_WORK: self.envelope.type.value,
            names.ENVELOPE_NAME: self.envelope.name,
        }
        if self.envelope.namespace:
            labels[names.ENVELOPE_NAMESPACE] = self.envelope.namespace
        return labels


def _pieces(source: BindingOwner, part: Json) -> Iterator[_Piece]:
    """Return the Work of a snapshot object, and one for each envelope in it."""
    name, index = _work_name(source, part), snapshotting.index_of(part)
    resources = part["spec"]["selectedResources"]
    wrapped = [each for each in resources if envelopes.is_envelope(each)]
    yield _Piece(name, index, [each for each in resources if not envelopes.is_envelope(each)])
    for each in wrapped:
        envelope = envelopes.identifier(each)
        own = f"{name}-envelope-{envelopes.digest(envelope)}"
        yield _Piece(own, index, [each], envelope)


def _parts(name: str, snapshots: Iterable[Json]) -> list[Json]:
    """Return all objects of the snapshot whose master has that name, the master first."""
    ordered = sorted(snapshots, key=lambda each: (not snapshotting.is_master(each), _part(each)))
    masters = [each for each in ordered if each["metadata"]["name"] == name]
    if not masters:
        raise MissingSnapshotError(BindingMessage.NO_SNAPSHOT)
    index = snapshotting.index_of(masters[0])
    group = [each for each in ordered if snapshotting.index_of(each) == index]
    size = _size(masters[0])
    if len(group) < size:
        raise MissingSnapshotError(SNAPSHOT_INCOMPLETE.fill(found=len(group), size=size, name=name))
    return group


def objects(snapshot: str, snapshots: Iterable[Json]) -> frozenset[Identity]:
    """Return the objects in the snapshot whose master has that name; empty if it is missing."""
    try:
        parts = _parts(snapshot, snapshots)
    except MissingSnapshotError:
        return frozenset()
    return frozenset(identify(each) for part in parts for each in part["spec"]["selectedResources"])


def _size(master: Json) -> int:
    """Return how many objects store the snapshot."""
    metadata = master["metadata"]
    count = metadata.get("annotations", {}).get(names.NUMBER_OF_RESOURCE_SNAPSHOTS, "")
    size = integers.known(count, otherwise=0)
    if size < 1:
        raise MissingSnapshotError(
            f"resource snapshot {metadata['name']} does not say how many objects it consists of: "
            f"its annotation {names.NUMBER_OF_RESOURCE_SNAPSHOTS} is `{count}`"
        )
    return size


def _part(snapshot: Json) -> int:
    subindex = snapshot["metadata"].get("annotations", {}).get(names.SUBINDEX, "")
    return integers.known(subindex, otherwise=0)


def _work_name(source: BindingOwner, part: Json) -> str:
    suffix = "work" if snapshotting.is_master(part) else str(_part(part))
    return f"{source.base}-{suffix}"


def _parent_marks(binding: Binding) -> dict[str, str]:
    """Return the annotations that identify the content of a Work."""
    resource = [each.to_wire() for each in binding.spec.resource_override_snapshots]
    cluster = binding.spec.cluster_resource_override_snapshots
    return {
        names.PARENT_RESOURCE_SNAPSHOT_NAME: binding.spec.resource_snapshot_name,
        names.RESOURCE_OVERRIDE_HASH: hashing.names_hash(resource),
        names.CLUSTER_RESOURCE_OVERRIDE_HASH: hashing.names_hash(cluster),
    }


def _again(binding: Binding) -> dict[str, str]:
    """Return the annotation that has agents apply the content once more; empty without one."""
    at = binding.metadata.annotations.get(names.APPLY_AGAIN)
    return {names.APPLY_AGAIN: at} if at else {}


def _name(work: Json) -> str:
    name: str = work["metadata"]["name"]
    return name


def _is_current(work: Json, marks: dict[str, str], binding: Binding, source: BindingOwner) -> bool:
    metadata = work["metadata"]
    annotations = metadata.get("annotations", {})
    if any(annotations.get(name) != value for name, value in marks.items()):
        return False
    # A re-created placement may have the same index for other content.
    if metadata.get("labels", {}).get(names.PARENT_BINDING) != binding.metadata.name:
        return False
    present = {name: work["spec"].get(name) for name in ("applyStrategy", "reportBackStrategy")}
    return present == _how(binding, source)


def _how(binding: Binding, source: BindingOwner) -> Json:
    strategy = binding.spec.apply_strategy
    return {
        "applyStrategy": strategy.to_wire() if strategy else None,
        "reportBackStrategy": source.report_back.to_wire() if source.report_back else None,
    }


def _body(piece: _Piece, binding: Binding, source: BindingOwner, manifests: list[Json]) -> Json:
    labels = piece.labels | {
        names.PARENT_BINDING: binding.metadata.name,
        names.PARENT_PLACEMENT: source.name,
        names.PARENT_RESOURCE_SNAPSHOT_INDEX: piece.index,
    }
    if source.namespace:
        labels[names.PARENT_PLACEMENT_NAMESPACE] = source.namespace
    how = {name: value for name, value in _how(binding, source).items() if value is not None}
    return {
        "metadata": {
            "name": piece.name,
            "namespace": member_namespace(binding.spec.target_cluster),
            "labels": labels,
            "annotations": _parent_marks(binding) | _again(binding),
        },
        "spec": {"workload": {"manifests": manifests}, **how},
    }
