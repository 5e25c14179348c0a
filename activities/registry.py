"""All activities of a worker, with their dependencies."""

from collections.abc import Callable
from typing import Any

from temporalio.client import Client

from activities.approvals import ApprovalActivities
from activities.clusters import ClusterActivities
from activities.events import EventActivities
from activities.following import FollowingActivities
from activities.policies import PolicyActivities
from activities.queueing import QueueActivities
from activities.rolling_back import RollbackActivities
from activities.snapshots import SnapshotActivities
from activities.statuses import StatusActivities
from activities.surveying import SurveyingActivities
from activities.writing import Writing
from hub import Hub, SharedCaches
from planning.placements.selecting import SelectionRules


def all_activities(
    hub: Hub,
    client: Client,
    *,
    caches: SharedCaches | None = None,
    rules: SelectionRules | None = None,
    places: bool = False,
) -> list[Callable[..., Any]]:
    """Return all activities; they share one client of the hub and its watches.

    `rules` limit what a run that names no snapshot may place; `places` says that fleetgate itself
    decides which clusters placements pick.
    """
    caches = SharedCaches(hub) if caches is None else caches
    surveying = SurveyingActivities(hub, places=places)
    snapshots = SnapshotActivities(hub, rules=rules or SelectionRules())
    statuses, approvals = StatusActivities(hub), ApprovalActivities(hub)
    policies = PolicyActivities(hub, caches)
    writing = Writing()
    clusters = ClusterActivities(hub, caches, writing)
    following = FollowingActivities(caches, client, writing)
    return [
        surveying.survey,
        snapshots.find_snapshot,
        statuses.write_status,
        statuses.set_state,
        approvals.open_approval,
        approvals.record_approval,
        approvals.accept_approval,
        clusters.update_cluster,
        clusters.apply_again,
        clusters.remove_cluster,
        following.follow_bindings,
        policies.write_report,
        policies.read_decision,
        policies.answer_decision,
        RollbackActivities(hub).roll_back,
        QueueActivities(hub).read_line,
        EventActivities(hub).record_events,
    ]
