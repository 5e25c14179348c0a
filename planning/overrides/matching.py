"""Matching: which override snapshots apply to a placement's content, and on which clusters.

contract: update-runs 7.8, placement 6, 9 (which snapshots apply to a run) and 10, decision 11
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.base import NamespacedName
from api.kinds import NAMESPACE
from api.names import MEMBER_NAME, OVERRIDE_INDEX, PARENT_RESOURCE_OVERRIDE
from api.overrides import (
    ClusterResourceOverrideSnapshot,
    OverrideRule,
    PlacementScope,
    ResourceOverrideSnapshot,
)
from api.selectors import LabelSelector
from planning import envelopes, failures, integers, selectors
from planning.errors import InitializationError
from planning.failures import RunFailure
from planning.resource_order import Identity


class UnreadableError(InitializationError):
    """An override or an envelope cannot be read: a run that needs it cannot start.

    The error's text is for the status of a run; `words` are for every other place.
    """

    def __init__(self, failure: RunFailure, **parameters: object) -> None:
        self.words = failure.words(**parameters)
        super().__init__(str(failure.error(**parameters)))


class ClusterOverrides(BaseModel):
    """Names of snapshots, in the order in which they apply. Stored in workflow history."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    cluster: str
    cluster_resource: list[str] = []
    resource: list[NamespacedName] = []


OverrideSnapshot = ClusterResourceOverrideSnapshot | ResourceOverrideSnapshot
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Overrides:
    """Latest override snapshots of both kinds, or some of them, in the contract's order."""

    cluster_resource: tuple[ClusterResourceOverrideSnapshot, ...]
    resource: tuple[ResourceOverrideSnapshot, ...]

    @classmethod
    def of(
        cls,
        cluster_resource: Iterable[ClusterResourceOverrideSnapshot],
        resource: Iterable[ResourceOverrideSnapshot],
    ) -> "Overrides":
        """Sort the first by name, the second by namespace and name."""
        return cls(
            tuple(sorted(cluster_resource, key=lambda each: each.metadata.name)),
            tuple(sorted(resource, key=_namespace_and_name)),
        )

    @classmethod
    def latest(
        cls,
        cluster_resource: Iterable[ClusterResourceOverrideSnapshot],
        resource: Iterable[ResourceOverrideSnapshot],
    ) -> "Overrides":
        """Select one snapshot per override from those marked as the latest.

        The mark moves in two writes; between them two are marked, and the newer one counts.
        """
        return cls.of(_newest(cluster_resource), _newest(resource))

    def __bool__(self) -> bool:
        return bool(self.cluster_resource or self.resource)

    def for_placement(self, placement: str) -> "Overrides":
        """Return those that name no placement, or this one; `placement` is a key."""
        return Overrides(
            tuple(each for each in self.cluster_resource if _is_for(each, placement)),
            tuple(each for each in self.resource if _is_for(each, placement)),
        )

    def about(self, targets: Collection[Identity]) -> "Overrides":
        """Return those that select one of the objects; see `targets`."""
        return Overrides(
            tuple(each for each in self.cluster_resource if _selects_in_cluster(each, targets)),
            tuple(each for each in self.resource if _selects_in_namespace(each, targets)),
        )

    def by_cluster(self, clusters: Mapping[str, Labels]) -> list[ClusterOverrides]:
        """Return what applies on each of the clusters, which are given with their labels.

        Clusters on which nothing applies are left out.

        Raises:
            UnreadableError: a rule's selector is invalid.
        """
        found = (self._on(cluster, labels) for cluster, labels in clusters.items())
        return [each for each in found if each.cluster_resource or each.resource]

    def _on(self, cluster: str, labels: Labels) -> ClusterOverrides:
        # On a hub that neither fleetgate nor KubeFleet manages, the automatic label may be missing.
        labels = {**labels, MEMBER_NAME: cluster}
        return ClusterOverrides(
            cluster=cluster,
            cluster_resource=[
                each.metadata.name for each in self.cluster_resource if _applies(each, labels)
            ],
            resource=[
                NamespacedName(name=each.metadata.name, namespace=each.metadata.namespace)
                for each in self.resource
                if _applies(each, labels)
            ],
        )


SnapshotT = TypeVar("SnapshotT", bound=OverrideSnapshot)


def _newest(snapshots: Iterable[SnapshotT]) -> Iterable[SnapshotT]:
    newest = {_override_of(each): each for each in sorted(snapshots, key=_index)}
    return newest.values()


def _override_of(snapshot: OverrideSnapshot) -> tuple[str, str]:
    metadata = snapshot.metadata
    return metadata.namespace, metadata.labels.get(PARENT_RESOURCE_OVERRIDE, metadata.name)


def _index(snapshot: OverrideSnapshot) -> int:
    return integers.known(snapshot.metadata.labels.get(OVERRIDE_INDEX, ""), otherwise=-1)


def _namespace_and_name(snapshot: OverrideSnapshot) -> tuple[str, str]:
    return snapshot.metadata.namespace, snapshot.metadata.name


def _is_for(snapshot: OverrideSnapshot, placement: str) -> bool:
    named = snapshot.spec.override_spec.placement
    if named is None:
        return True
    # The full key, where KubeFleet's runs compare the bare name (contract decision 11).
    namespaced = named.scope == PlacementScope.NAMESPACED
    return f"{snapshot.metadata.namespace if namespaced else ''}/{named.name}" == placement


def _selects_in_cluster(
    snapshot: ClusterResourceOverrideSnapshot, targets: Collection[Identity]
) -> bool:
    return any(
        Identity(each.group, each.version, each.kind, "", each.name) in targets
        for each in snapshot.spec.override_spec.cluster_resource_selectors
    )


def _selects_in_namespace(
    snapshot: ResourceOverrideSnapshot, targets: Collection[Identity]
) -> bool:
    namespace = snapshot.metadata.namespace
    return any(
        Identity(each.group, each.version, each.kind, namespace, each.name) in targets
        for each in snapshot.spec.override_spec.resource_selectors
    )


def _applies(snapshot: OverrideSnapshot, labels: Labels) -> bool:
    rules = snapshot.spec.override_spec.policy.override_rules
    return any(picks(rule, labels, snapshot) for rule in rules)


def picks(rule: OverrideRule, labels: Labels, snapshot: OverrideSnapshot) -> bool:
    """Return whether a snapshot's rule applies to a cluster; `labels` are all of the cluster's.

    Raises:
        UnreadableError: the rule's selector is invalid.
    """
    if rule.cluster_selector is None:
        return False
    terms = rule.cluster_selector.cluster_selector_terms
    return not terms or any(_matches(each.label_selector, labels, snapshot) for each in terms)


def _matches(selector: LabelSelector | None, labels: Labels, snapshot: OverrideSnapshot) -> bool:
    problem = selectors.problem(selector)
    if problem:
        raise UnreadableError(
            failures.OVERRIDE_SELECTOR_NOT_VALID,
            kind=snapshot.kind.removesuffix("Snapshot"),
            name="/".join(filter(None, _namespace_and_name(snapshot))),
            why=problem,
        )
    return selectors.matches(selector, labels)


# -- the objects that an override can select ----------------------------------------------

Json = dict[str, Any]


def targets(resources: Iterable[Json]) -> frozenset[Identity]:
    """Return every object by which an override may select these resources.

    These are the resources themselves, the objects inside envelopes, and the namespaces of
    both: an override of a namespace applies to everything in it.

    Raises:
        UnreadableError: an envelope holds an entry that is not an object.
    """
    found: set[Identity] = set()
    for resource in resources:
        for identity in _identities(resource):
            found.add(identity)
            if identity.namespace:
                found.add(namespace_identity(identity.namespace))
    return frozenset(found)


def namespace_identity(name: str) -> Identity:
    """Return the identity of a Namespace."""
    return Identity(NAMESPACE.group, NAMESPACE.version, NAMESPACE.kind, "", name)


class _Metadata(BaseModel):
    # The API server does not check the content of envelopes, where null often means unset.
    name: str | None = None
    namespace: str | None = None


class _Object(BaseModel):
    """The fields of an object that identify it."""

    # Errors name the invalid field but never its content, which may be a secret.
    model_config = ConfigDict(hide_input_in_errors=True)

    api_version: str = Field(alias="apiVersion")
    kind: str
    metadata: _Metadata | None = None

    @property
    def identity(self) -> Identity:
        group, _, version = self.api_version.rpartition("/")
        metadata = self.metadata or _Metadata()
        return Identity(group, version, self.kind, metadata.namespace or "", metadata.name or "")


class _Envelope(_Object):
    data: dict[str, _Object] = {}


def _identities(resource: Json) -> list[Identity]:
    outer = _Object.model_validate(resource).identity
    if (outer.group, outer.kind) not in envelopes.KINDS:
        return [outer]
    try:
        envelope = _Envelope.model_validate(resource)
    except ValidationError as error:
        raise _no_object(outer, error) from error
    return [outer, *(each.identity for each in envelope.data.values())]


def _no_object(envelope: Identity, error: ValidationError) -> UnreadableError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return UnreadableError(
        failures.ENVELOPE_NOT_READABLE,
        kind=envelope.kind,
        name=f"{envelope.namespace}/{envelope.name}",
        why=f"{field}: {first['msg']}",
    )
