"""Sample fleets and policies for tests of scheduling."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from api.base import format_time
from api.members import MemberCluster
from api.policies import ClusterDecision, ClusterScore
from api.scheduling import PlacementPolicy
from planning.placements.eligibility import Candidate, candidate
from planning.placements.scheduling import Held, Holding, Schedule, schedule
from tests.support import conditions

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def ago(minutes: float) -> str:
    return format_time(NOW - timedelta(minutes=minutes))


def condition(kind: str, status: str, minutes: float = 60) -> Json:
    return conditions.condition(kind, status, None, at=ago(minutes))


def member(
    name: str = "m",
    *,
    heartbeat: float | None = 0.1,
    joined: str = "True",
    healthy: Json | None = None,
    leaving: bool = False,
    labels: Mapping[str, str] | None = None,
    namespaces: list[str] | None = None,
    properties: Mapping[str, str] | None = None,
    available: Mapping[str, str] | None = None,
    **spec: Any,
) -> MemberCluster:
    """Return a member, joined and healthy by default; `heartbeat` is in minutes ago."""
    conditions = [condition("Joined", joined), healthy or condition("Healthy", "True")]
    agent: Json = {"type": "MemberAgent", "conditions": conditions}
    if heartbeat is not None:
        agent["lastReceivedHeartbeat"] = ago(heartbeat)
    metadata: Json = {"name": name, "labels": dict(labels or {})}
    if leaving:
        metadata["deletionTimestamp"] = ago(1)
    observed = {
        key: {"value": value, "observationTime": ago(1)}
        for key, value in (properties or {}).items()
    }
    status: Json = {
        "agentStatus": [agent],
        "properties": observed,
        "resourceUsage": {"available": dict(available or {})},
    }
    if namespaces is not None:
        status["conditions"] = [condition("NamespaceCollectionSucceeded", "True")]
        status["namespaces"] = dict.fromkeys(namespaces, "")
    return MemberCluster.from_wire(
        {
            "metadata": metadata,
            "spec": {"identity": {"kind": "User", "name": name}} | spec,
            "status": status,
        }
    )


def fleet(*members: MemberCluster) -> list[Candidate]:
    return [candidate(each, now=NOW) for each in members]


def decide(
    policy: Json | None, *members: MemberCluster, held: Held | None = None, namespace: str = ""
) -> Schedule:
    parsed = None if policy is None else PlacementPolicy.from_wire(policy)
    return schedule(parsed, fleet(*members), held=held or Held(), namespace=namespace)


def names(made: Schedule) -> list[str]:
    return [each.cluster_name for each in made.picked]


def reasons(made: Schedule) -> dict[str, str]:
    """Return why each of the other clusters is not picked."""
    return {each.cluster_name: each.reason for each in made.unpicked}


def scores(made: Schedule) -> dict[str, tuple[int, int]]:
    """Return affinity and topology score of each cluster that has scores, picked or not."""
    return {
        each.cluster_name: (each.cluster_score.affinity_score, each.cluster_score.priority_score)
        for each in [*made.picked, *made.unpicked]
        if each.cluster_score
    }


def holding(
    *clusters: str, bound: bool = True, affinity_score: int = 0, spread_score: int = 0
) -> Held:
    """Return clusters that the same policy picked before."""
    score = ClusterScore(affinity_score=affinity_score, priority_score=spread_score)
    return Held(
        current={
            each: Holding(
                ClusterDecision(
                    cluster_name=each, selected=True, cluster_score=score, reason="of before"
                ),
                bound=bound,
            )
            for each in clusters
        }
    )


def both(*several: Held) -> Held:
    """Return the union of several."""
    current = {name: each for held in several for name, each in held.current.items()}
    return Held(current=current, earlier=frozenset().union(*(held.earlier for held in several)))


def required(*terms: Json) -> Json:
    """Return an affinity that allows only clusters that match a term."""
    wanted = {"clusterSelectorTerms": list(terms)}
    return {"clusterAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": wanted}}


def preferred(*terms: tuple[int, Json]) -> Json:
    """Return an affinity that gives clusters the weights of the terms they match."""
    weighted = [{"weight": weight, "preference": term} for weight, term in terms]
    return {"clusterAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}


def labelled(**labels: str) -> Json:
    """Return a term that requires labels."""
    return {"labelSelector": {"matchLabels": labels}}


def with_property(name: str, operator: str, value: str) -> Json:
    """Return a term that requires a property."""
    wanted = {"name": name, "operator": operator, "values": [value]}
    return {"propertySelector": {"matchExpressions": [wanted]}}


def sorted_by(name: str, order: str = "Descending", **labels: str) -> Json:
    """Return a term that prefers high or low values of a property."""
    term: Json = {"propertySorter": {"name": name, "sortOrder": order}}
    return term | (labelled(**labels) if labels else {})


def spread_over(key: str, *, skew: int = 1, strict: bool = True) -> Json:
    """Return a topology spread constraint."""
    action = "DoNotSchedule" if strict else "ScheduleAnyway"
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": action}


def pick(count: int, **others: Any) -> Json:
    """Return a policy of type PickN."""
    return {"placementType": "PickN", "numberOfClusters": count} | others
