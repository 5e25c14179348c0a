"""Runs at some moment and the objects about their clusters, for tests to modify."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from api.approvals import BaseApprovalRequest
from api.bindings import Binding
from api.kinds import CLUSTER_SCOPE, NAMESPACED_SCOPE
from api.members import MemberCluster
from api.reasons import STARTED_BY_RUN
from api.runs import UpdateRun
from planning.placements.binding_steps import WorkReport
from planning.runs import views
from starter.explain import explanations, situations
from starter.explain.explanations import Explanation
from starter.explain.looks import ClusterEvidence, Evidence, Look, Situation
from tests.starter.runs import recorded
from tests.support import conditions

Json = dict[str, Any]
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GENERATION = 3


def as_recorded(run: UpdateRun) -> None:
    """Leave a run unchanged."""


def run_of(moment: str, change: Callable[[UpdateRun], object] = as_recorded) -> UpdateRun:
    """Return a recorded run with a change."""
    run = UpdateRun.from_wire(recorded(moment))
    change(run)
    return run


def look_at(
    run: UpdateRun, *, evidence: Evidence | None = None, after: timedelta = timedelta(seconds=7)
) -> Look:
    """Return a look at a run some time after its last change."""
    view = views.of(run)
    moments = [each.last_transition_time for each in view.conditions]
    last = max(moments, default=run.metadata.creation_timestamp or NOW)
    scope = NAMESPACED_SCOPE if view.namespace else CLUSTER_SCOPE
    return Look(run, view, scope, evidence or Evidence(), last + after)


def situation(
    moment: str,
    change: Callable[[UpdateRun], object] = as_recorded,
    *,
    evidence: Evidence | None = None,
    after: timedelta = timedelta(seconds=7),
) -> Situation:
    """Return the situation of a recorded run."""
    return situations.of(look_at(run_of(moment, change), evidence=evidence, after=after))


def explanation(run: UpdateRun, evidence: Evidence | None = None) -> Explanation:
    """Return the explanation of a run."""
    return explanations.of(look_at(run, evidence=evidence), on_member=on_member)


def on_member(cluster: str, arguments: str) -> str:
    return f"kubectl {arguments}  # on {cluster}"


def condition(
    kind: str, status: str, reason: str, message: str = "", generation: int = GENERATION
) -> Json:
    """Return a condition for the binding's current generation, unless another one is given."""
    at = NOW - timedelta(seconds=5)
    return conditions.condition(kind, status, generation, reason=reason, message=message, at=at)


STARTED = condition(
    "RolloutStarted", "True", "RolloutStarted", STARTED_BY_RUN.fill(index=1, run="v2")
)


def binding(*conditions: Json, **status: Any) -> Binding:
    """Return a binding with the condition RolloutStarted and others."""
    return Binding.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterResourceBinding",
            "metadata": {"name": "web-c1-0a", "generation": GENERATION},
            "spec": {
                "state": "Bound",
                "resourceSnapshotName": "web-1-snapshot",
                "schedulingPolicySnapshotName": "web-0",
                "targetCluster": "c1",
                "clusterDecision": {"clusterName": "c1", "selected": True, "reason": "picked"},
            },
            "status": {"conditions": [STARTED, *conditions], **status},
        }
    )


def failed(reason: str, message: str, *, kind: str = "Deployment", **fields: Any) -> Json:
    """Return an entry of failedPlacements."""
    of = "Available" if reason == "ManifestNotAvailableYet" else "Applied"
    return {
        "group": "apps" if kind == "Deployment" else "",
        "version": "v1",
        "kind": kind,
        "name": "web",
        "namespace": "shop",
        "condition": condition(of, "False", reason, message),
    } | fields


def work(*entries: Json, **status: Any) -> WorkReport:
    """Return a Work with what its member reports about each manifest."""
    return WorkReport.read(
        {
            "metadata": {"name": "web-work", "generation": 1},
            "status": {"conditions": [], "manifestConditions": list(entries), **status},
        }
    )


def member(*, silent_for: timedelta = timedelta(seconds=20), **metadata: Any) -> MemberCluster:
    """Return a member whose agent was last heard from some time ago."""
    return MemberCluster.from_wire(
        {
            "apiVersion": "cluster.kubernetes-fleet.io/v1beta1",
            "kind": "MemberCluster",
            "metadata": {"name": "c1", **metadata},
            "spec": {"identity": {"kind": "User", "name": "c1"}},
            "status": {
                "agentStatus": [
                    {
                        "type": "MemberAgent",
                        "conditions": [
                            condition("Joined", "True", "InternalMemberClusterJoined"),
                            condition("Healthy", "True", "InternalMemberClusterHealthy"),
                        ],
                        "lastReceivedHeartbeat": (NOW - silent_for).isoformat(),
                    }
                ]
            },
        }
    )


def request(name: str, *conditions: Json, generation: int = 1) -> BaseApprovalRequest:
    """Return an approval request with conditions that people wrote."""
    return BaseApprovalRequest.from_wire(
        {
            "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
            "kind": "ClusterApprovalRequest",
            "metadata": {"name": name, "generation": generation},
            "spec": {"parentStageRollout": "example-run", "targetStage": "canary"},
            "status": {"conditions": list(conditions)},
        }
    )


def cluster_evidence(found: Binding | None, **others: Any) -> ClusterEvidence:
    return ClusterEvidence(binding=found, **others)
