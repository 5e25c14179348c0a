"""Availability of an object on a member, judged by its own status.

contract: placement 8 (availability rules)
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final

from api.kinds import Kind

Json = Mapping[str, Any]


class Availability(StrEnum):
    """Availability of an applied object."""

    AVAILABLE = "Available"
    NOT_YET = "NotYet"
    NOT_TRACKABLE = "NotTrackable"
    """No rule for this kind: it counts as available, and the Work says that this is assumed."""


def judge(kind: Kind, live: Json) -> Availability:
    """Judge the availability of an object on the member.

    Args:
        kind: kind as the member serves it.
        live: the object as the member's API server returned it, with its status.
    """
    resource = (kind.group, kind.version, kind.plural)
    rule = _RULES.get(resource)
    if rule is not None:
        return rule(live)
    at_once = resource in _AVAILABLE_AT_ONCE
    return Availability.AVAILABLE if at_once else Availability.NOT_TRACKABLE


def _when(ready: bool) -> Availability:
    return Availability.AVAILABLE if ready else Availability.NOT_YET


def _part(live: Json, name: str) -> Json:
    return live.get(name) or {}


def _is_observed(live: Json) -> bool:
    generation: int = _part(live, "metadata").get("generation", 0)
    return bool(_part(live, "status").get("observedGeneration", 0) == generation)


def _replicas(live: Json) -> int:
    replicas = _part(live, "spec").get("replicas")
    return 1 if replicas is None else int(replicas)


def _deployment(live: Json) -> Availability:
    status, wanted = _part(live, "status"), _replicas(live)
    return _when(
        _is_observed(live)
        and status.get("availableReplicas", 0) == wanted
        and status.get("updatedReplicas", 0) == wanted
        and status.get("unavailableReplicas", 0) == 0
    )


def _stateful_set(live: Json) -> Availability:
    status = _part(live, "status")
    return _when(
        _is_observed(live)
        and status.get("availableReplicas", 0) == _replicas(live)
        and status.get("currentReplicas", 0) == status.get("updatedReplicas", 0)
        and status.get("currentRevision") == status.get("updateRevision")
    )


def _daemon_set(live: Json) -> Availability:
    status = _part(live, "status")
    updated = status.get("updatedNumberScheduled", 0)
    return _when(
        _is_observed(live)
        and status.get("numberAvailable", 0) == status.get("desiredNumberScheduled", 0)
        and status.get("currentNumberScheduled", 0) == updated
    )


def _service(live: Json) -> Availability:
    spec = _part(live, "spec")
    match spec.get("type") or "ClusterIP":
        case "ClusterIP" | "NodePort":
            return _when(any((spec.get("clusterIPs") or [""])[:1]))
        case "LoadBalancer":
            balancer = _part(_part(live, "status"), "loadBalancer")
            ingress = (balancer.get("ingress") or [{}])[0]
            return _when(bool(ingress.get("ip") or ingress.get("hostname")))
        case _:
            return Availability.NOT_TRACKABLE


def _condition(live: Json, name: str) -> Json:
    conditions = _part(live, "status").get("conditions") or []
    return next((each for each in conditions if each.get("type") == name), {})


def _definition(live: Json) -> Availability:
    wanted = ("Established", "NamesAccepted")
    return _when(all(_condition(live, name).get("status") == "True" for name in wanted))


def _disruption_budget(live: Json) -> Availability:
    status, allowed = _part(live, "status"), _condition(live, "DisruptionAllowed")
    expected = "True" if status.get("disruptionsAllowed", 0) > 0 else "False"
    return _when(
        _is_observed(live)
        and allowed.get("status") == expected
        and allowed.get("observedGeneration", 0) == status.get("observedGeneration", 0)
    )


_RULES: Final[Mapping[tuple[str, str, str], Callable[[Json], Availability]]] = {
    ("apps", "v1", "deployments"): _deployment,
    ("apps", "v1", "statefulsets"): _stateful_set,
    ("apps", "v1", "daemonsets"): _daemon_set,
    ("", "v1", "services"): _service,
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions"): _definition,
    ("policy", "v1", "poddisruptionbudgets"): _disruption_budget,
}

_AVAILABLE_AT_ONCE: Final = frozenset(
    {
        ("", "v1", "namespaces"),
        ("", "v1", "secrets"),
        ("", "v1", "configmaps"),
        ("", "v1", "serviceaccounts"),
        ("", "v1", "limitranges"),
        ("", "v1", "resourcequotas"),
        ("apps", "v1", "controllerrevisions"),
        ("networking.k8s.io", "v1", "ingressclasses"),
        ("networking.k8s.io", "v1", "networkpolicies"),
        ("rbac.authorization.k8s.io", "v1", "roles"),
        ("rbac.authorization.k8s.io", "v1", "rolebindings"),
        ("rbac.authorization.k8s.io", "v1", "clusterroles"),
        ("rbac.authorization.k8s.io", "v1", "clusterrolebindings"),
        ("scheduling.k8s.io", "v1", "priorityclasses"),
        ("storage.k8s.io", "v1", "csidrivers"),
        ("storage.k8s.io", "v1", "csinodes"),
        ("storage.k8s.io", "v1", "csistoragecapacities"),
        ("storage.k8s.io", "v1", "storageclasses"),
    }
)
