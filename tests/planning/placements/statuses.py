"""Sample placements, decisions and bindings for tests of a placement's status."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.base import format_time
from api.bindings import Binding
from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE, Scope
from api.placements import Placement, PlacementStatus
from api.policies import PolicySnapshot
from planning.placements.placement_status import View, status
from tests.support import conditions

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 12, 0, tzinfo=UTC)
EARLIER = format_time(NOW - timedelta(minutes=1))
SCOPES = pytest.mark.parametrize("scope", [CLUSTER_SCOPE, NAMESPACED_SCOPE])
CHAIN = ("RolloutStarted", "Overridden", "WorkSynchronized", "Applied", "Available")
PENDING = {
    "RolloutStarted": (
        "RolloutStartedUnknown",
        "In the process of deciding whether to roll out some version of the resources or not",
    ),
    "Overridden": (
        "OverriddenPending",
        "In the process of overriding the selected resources if there is any override defined",
    ),
    "WorkSynchronized": (
        "WorkSynchronizedUnknown",
        "In the process of creating or updating the work object(s) in the hub cluster",
    ),
    "Applied": ("ApplyPending", "In the process of applying the resources on the member cluster"),
    "Available": (
        "ResourceAvailableUnknown",
        "The availability of the selected resources is unknown yet ",
    ),
}


def condition(kind: str, state: str, generation: int, message: str = "said") -> Json:
    return conditions.condition(kind, state, generation, reason="Test", message=message, at=EARLIER)


def placement(
    *, strategy: str = "External", apply: str = "ClientSideApply", before: Json | None = None
) -> Placement:
    return Placement.from_wire(
        {
            "apiVersion": "v1",
            "kind": "P",
            "metadata": {"name": "p", "generation": 4},
            "spec": {
                "resourceSelectors": [],
                "strategy": {"type": strategy, "applyStrategy": {"type": apply}},
            },
            "status": before or {},
        }
    )


def policy(
    *clusters: str, missing: tuple[str, ...] = (), observed: int = 4, **spec: Any
) -> PolicySnapshot:
    picked = [{"clusterName": each, "selected": True, "reason": f"{each}!"} for each in clusters]
    left = [{"clusterName": each, "selected": False, "reason": f"no {each}"} for each in missing]
    scheduled = condition("Scheduled", "False" if missing else "True", 1, "as decided")
    return PolicySnapshot.from_wire(
        {
            "apiVersion": "v1",
            "kind": "S",
            "metadata": {"name": "p-0", "generation": 1},
            "spec": {"policyHash": "", "policy": spec or {"placementType": "PickAll"}},
            "status": {
                "observedCRPGeneration": observed,
                "conditions": [scheduled],
                "targetClusters": picked + left,
            },
        }
    )


def binding(
    cluster: str,
    *states: str,
    index: str = "0",
    stale: str = "",
    chain: tuple[str, ...] = CHAIN,
    policy_name: str = "p-0",
    **more: Any,
) -> Binding:
    """Return a binding with one condition per state; `stale` names one that is out of date."""
    conditions = [
        condition(kind, state, 6 if kind == stale else 7, f"{kind} of {cluster}")
        for kind, state in zip(chain, states, strict=False)
    ]
    spec = {
        "state": "Bound",
        "resourceSnapshotName": f"p-{index}-snapshot" if index else "",
        "schedulingPolicySnapshotName": policy_name,
        "targetCluster": cluster,
        "clusterDecision": {"clusterName": cluster, "selected": True, "reason": ""},
    } | more.pop("spec", {})
    return Binding.from_wire(
        {
            "apiVersion": "v1",
            "kind": "B",
            "metadata": {"name": f"p-{cluster}", "generation": 7} | more.pop("metadata", {}),
            "spec": spec,
            "status": {"conditions": conditions} | more,
        }
    )


def see(
    bindings: list[Binding],
    *,
    scope: Scope = CLUSTER_SCOPE,
    of: Placement | None = None,
    by: PolicySnapshot | None = None,
    error: str = "",
) -> PlacementStatus:
    clusters = [each.spec.target_cluster for each in bindings]
    content = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "cm", "namespace": "app"},
    }
    return status(
        View(
            scope=scope,
            placement=of or placement(),
            now=NOW,
            selection_error=error,
            policy=by or policy(*clusters),
            bindings=bindings,
            contents={"0": [content], "1": [content]},
            indexes={"p-0-snapshot": "0", "p-1-snapshot": "1"},
        )
    )


def said(made: PlacementStatus) -> list[str]:
    prefix = "ClusterResourcePlacement"
    return [f"{each.type.removeprefix(prefix)} {each.status}" for each in made.conditions]


ALL_TRUE = ("True",) * 5
