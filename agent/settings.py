"""The settings of an agent, and the field managers under which it writes."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

OBJECT_MANAGER: Final = "work-api-agent"
"""Field manager of applied objects on the member. KubeFleet's agent uses the same one, so either
kind of agent can continue where the other left off."""

STATUS_MANAGER: Final = "fleetgate-agent"
"""Field manager of the status that the agent writes to the MemberCluster on the hub."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Settings of an agent; the defaults suit many agents in one process."""

    works_at_once: int = 4
    """Works processed in parallel (default 4): a Work that waits for the member does not hold up
    the next, and a burst of Works does not use up every connection."""

    writes_at_once: int = 8
    """Objects applied to the member in parallel (default 8), across all Works: few connections,
    but enough to hide the latency of each request."""

    removal_recheck: timedelta = timedelta(seconds=5)
    """How soon to check again whether an object that is being deleted is gone (default 5 s), in
    case the watch that reports it has fallen behind."""

    away_recheck: timedelta = timedelta(seconds=2)
    """How soon to retry a Work when an API server does not answer (default 2 s): a retry costs one
    refused connection, and a member that is back is served soon."""

    hub_retry: timedelta = timedelta(seconds=5)
    """Longest pause before a failed heartbeat is retried (default 5 s): well within the five
    minutes after which a silent member counts as unreachable."""

    properties_age: timedelta = timedelta(minutes=1)
    """Maximum age of the reported node and pod counts (default 1 minute): a heartbeat within that
    time repeats them, because a large cluster has many pods to count."""

    properties_patience: timedelta = timedelta(seconds=10)
    """How long a heartbeat waits for nodes and pods to be counted (default 10 s); after that it
    reports the problem and repeats the previous counts."""

    collect_namespaces: bool = False
    """Whether to report the cluster's namespaces (default no, as in KubeFleet's agent). If they are
    reported, a ResourcePlacement is placed only where its namespace exists, and waits elsewhere."""

    namespaces_limit: int = 200
    """Maximum number of namespaces to report (default 200): each heartbeat writes them all, and
    the condition says when some are left out."""

    namespaces_pause: timedelta = timedelta(seconds=1)
    """Delay before a change of namespaces is reported (default 1 s): they are often created many
    at a time."""

    restart_pause: timedelta = timedelta(seconds=60)
    """How soon an agent in a pool restarts after its member refused it something that it needs
    (default 60 s): someone has to grant it first."""

    hung_after: timedelta = timedelta(minutes=10)
    """How long a Work or a heartbeat may go without finishing a request before the agent counts as
    hung (default 10 minutes). A request ends after 30 s at the latest, but a Work may have to wait
    while a slow member processes a hundred or so objects of other Works."""
