"""What a placement may select, the errors for anything else, and what is kept of the objects found.

contract: placement 2.1 (error texts), 3 (what is never selected, cleaning)
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, Final

from api.kinds import CLUSTER_GROUP, NAMESPACE, PLACEMENT_GROUP, Kind
from planning import envelopes, failures
from planning.failures import RunFailure
from planning.resource_order import Identity, identify, position

Json = dict[str, Any]

_GROUPS: Final = frozenset(
    {CLUSTER_GROUP, "events.k8s.io", "coordination.k8s.io", "metrics.k8s.io"}
)
_KINDS: Final = frozenset(
    {
        ("", "Pod"),
        ("", "Node"),
        ("", "Event"),
        ("networking.fleet.azure.com", "ServiceImport"),
        ("networking.fleet.azure.com", "TrafficManagerProfile"),
        ("networking.fleet.azure.com", "TrafficManagerBackend"),
    }
)
_RESERVED_PREFIXES: Final = ("kube-", "fleet-")
_RESERVED_NAMESPACES: Final = frozenset({"default"})

ENDPOINTS: Final = ("", "Endpoints")
_NAMESPACE: Final = ("", "Namespace")
_CLAIM: Final = ("", "PersistentVolumeClaim")


class SelectionError(Exception):
    """A placement's resource selectors are not valid; the user has to change them.

    The text says what is wrong and names the placement (contract: placement 2.1).
    """

    def __init__(self, failure: RunFailure, **parameters: object) -> None:
        super().__init__(failure.words(**parameters))
        self.of_run = failure.error(**parameters)
        """The same for a run that needs the placement's content."""


def is_selectable(group: str, kind: str) -> bool:
    """Return whether objects of this kind may be placed at all."""
    if group == PLACEMENT_GROUP:
        return (group, kind) in envelopes.KINDS
    return group not in _GROUPS and (group, kind) not in _KINDS


@dataclass(frozen=True, slots=True)
class SelectionRules:
    """What may be placed from this hub; everything that selects for it must use the same rules."""

    skipped_namespaces: frozenset[str] = frozenset()
    """Namespaces that may not be placed, in addition to those of Kubernetes and of the fleet."""
    hub_runs_workloads: bool = False
    """True when the hub runs workloads: its PersistentVolumeClaims then belong to its own
    StatefulSets, and are not placed."""

    def is_open(self, namespace: str) -> bool:
        """Return whether a namespace may be placed, unlike those of Kubernetes and the fleet."""
        skipped = _RESERVED_NAMESPACES | self.skipped_namespaces
        return namespace not in skipped and not namespace.startswith(_RESERVED_PREFIXES)

    def may_be_placed(self, resource: Json, *, services: Collection[tuple[str, str]] = ()) -> bool:
        """Return whether a selected object is the user's own, not created by the cluster itself.

        `services` are namespace and name of the Services selected with it: a Service's Endpoints
        are created by the cluster.
        """
        if resource["metadata"].get("deletionTimestamp"):
            return False
        identity = identify(resource)
        kind = (identity.group, identity.kind)
        if kind == ENDPOINTS:
            return (identity.namespace, identity.name) not in services
        if kind == _NAMESPACE:
            return self.is_open(identity.name)
        if kind == _CLAIM:
            return not self.hub_runs_workloads
        judge = _JUDGES.get(kind)
        return judge is None or judge(resource)


def _not_owned(resource: Json) -> bool:
    return not resource["metadata"].get("ownerReferences")


def _not_managed(resource: Json) -> bool:
    labels = resource["metadata"].get("labels") or {}
    return "endpointslice.kubernetes.io/managed-by" not in labels


_JUDGES: Final[dict[tuple[str, str], Callable[[Json], bool]]] = {
    ("", "ConfigMap"): lambda resource: resource["metadata"]["name"] != "kube-root-ca.crt",
    ("", "ServiceAccount"): lambda resource: resource["metadata"]["name"] != "default",
    ("", "Secret"): lambda resource: resource.get("type") != "kubernetes.io/service-account-token",
    ("apps", "ReplicaSet"): _not_owned,
    ("apps", "ControllerRevision"): _not_owned,
    ("discovery.k8s.io", "EndpointSlice"): _not_managed,
}


def arrange(found: Iterable[Json]) -> list[Json]:
    """Clean and sort the objects that all selectors of a placement have found.

    Raises SelectionError if two of them found the same object.
    """
    seen: set[Identity] = set()
    cleaned = []
    for resource in found:
        identity = identify(resource)
        if identity in seen:
            raise SelectionError(failures.SELECTED_TWICE, twice=identity)
        seen.add(identity)
        cleaned.append(clean(resource))
    return sorted(cleaned, key=position)


@dataclass(frozen=True, slots=True)
class Selecting:
    """A placement that selects, and the errors of its selectors."""

    namespace: str
    """Empty for a cluster-scoped placement."""
    name: str

    @property
    def key(self) -> str:
        """`<namespace>/<name>`, `/<name>` for a cluster-scoped placement."""
        return f"{self.namespace}/{self.name}"

    def unknown_kind(self, kind: str, api_version: str) -> SelectionError:
        """Return the error for a kind that the hub does not serve."""
        return SelectionError(failures.UNKNOWN_KIND, key=self.key, kind=kind, version=api_version)

    def wrong_scope(self, kind: Kind) -> SelectionError:
        """Return the error for a kind that does not have the placement's scope."""
        if self.namespace and kind == NAMESPACE:
            return self._invalid(
                "cannot select cluster-scoped resource Namespace in a resourcePlacement"
            )
        gvr = f"{kind.group}/{kind.version}, Resource={kind.plural}"
        if kind.namespaced:
            text = f"namespace-scoped resource {gvr} in a clusterResourcePlacement"
        else:
            text = f"cluster-scoped resource {gvr} in a resourcePlacement"
        return self._invalid(f"cannot select {text}")

    def bad_labels(self, problem: str) -> SelectionError:
        """Return the error for an invalid label selector that the API server accepted."""
        return self._invalid(f"the label selector is invalid: {problem}")

    def closed_namespace(self, namespace: str) -> SelectionError:
        """Return the error for a namespace of Kubernetes or of the fleet."""
        return SelectionError(failures.CLOSED_NAMESPACE, name=self.name, closed=namespace)

    def no_namespace(self) -> SelectionError:
        """Return the error for selectors that are limited to a namespace that does not exist."""
        return SelectionError(failures.NO_NAMESPACE, name=self.name)

    def _invalid(self, why: str) -> SelectionError:
        return SelectionError(failures.INVALID_SELECTOR, key=self.key, why=why)


# -- cleaning objects of everything that belongs to the hub alone -------------------------

_METADATA: Final = (
    "resourceVersion",
    "generation",
    "uid",
    "selfLink",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "ownerReferences",
    "creationTimestamp",
)
_ANNOTATIONS: Final = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deployment.kubernetes.io/revision",
)
_JOB_LABELS: Final = ("controller-uid", "batch.kubernetes.io/controller-uid")


def clean(resource: Json) -> Json:
    """Return a copy of the object that can be applied to any cluster."""
    cleaned = _without(resource, "status")
    cleaned["metadata"] = _metadata(resource["metadata"])
    identity = identify(resource)
    if (identity.group, identity.kind) == ("", "Service"):
        cleaned["spec"] = _service_spec(resource.get("spec") or {})
    elif (identity.group, identity.kind) == ("batch", "Job"):
        cleaned["spec"] = _job_spec(resource.get("spec") or {})
    return cleaned


def _without(mapping: Json, *names: str) -> Json:
    return {name: value for name, value in mapping.items() if name not in names}


def _metadata(metadata: Json) -> Json:
    cleaned = _without(metadata, "annotations", *_METADATA)
    annotations = _without(metadata.get("annotations") or {}, *_ANNOTATIONS)
    if annotations:
        cleaned["annotations"] = annotations
    return cleaned


def _service_spec(spec: Json) -> Json:
    # "None" makes a Service headless: it is the user's choice, not an address of the hub.
    if spec.get("clusterIP") != "None":
        spec = _without(spec, "clusterIP", "clusterIPs")
    spec = _without(spec, "healthCheckNodePort")
    if "ports" in spec:
        spec["ports"] = [_without(port, "nodePort") for port in spec["ports"]]
    return spec


def _job_spec(spec: Json) -> Json:
    if spec.get("manualSelector"):
        return spec
    spec = dict(spec)
    if "selector" in spec:
        spec["selector"] = _without_labels(spec["selector"], "matchLabels")
    if "template" in spec:
        metadata = _without(spec["template"].get("metadata") or {}, "creationTimestamp")
        spec["template"] = spec["template"] | {"metadata": _without_labels(metadata, "labels")}
    return spec


def _without_labels(holder: Json, field: str) -> Json:
    if field not in holder:
        return holder
    return holder | {field: _without(holder[field], *_JOB_LABELS)}
