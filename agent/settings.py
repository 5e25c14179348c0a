"""What operators may tune about an agent, and the names under which it writes."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

OBJECT_MANAGER: Final = "work-api-agent"
"""Field manager of applied objects on the member, the same as KubeFleet's agent uses, so that
an agent of either kind can go on where the other left off."""

STATUS_MANAGER: Final = "fleetgate-agent"
"""Field manager of what the agent says in the MemberCluster on the hub."""


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """How an agent works; the defaults suit many agents in one process."""

    works_at_once: int = 4
    """Works processed side by side (default 4): one that waits for the member does not hold up
    the next, and a burst of Works does not take every connection."""

    writes_at_once: int = 8
    """Objects applied side by side to the member (default 8), over all Works: few connections,
    and enough to hide the time of each answer."""

    removal_recheck: timedelta = timedelta(seconds=5)
    """How soon to look again for something that is being deleted (default 5 s), in case the
    watch that tells it is gone fell behind."""

    away_recheck: timedelta = timedelta(seconds=2)
    """How soon to try a Work again when an API server does not answer (default 2 s): a try costs
    one refused connection, and a member that is back is served soon."""

    hub_retry: timedelta = timedelta(seconds=5)
    """Longest pause before a heartbeat that failed is tried again (default 5 s): well within
    the five minutes after which a silent member counts as unreachable."""

    properties_age: timedelta = timedelta(minutes=1)
    """How old what is reported of the cluster's nodes and pods may get (default 1 minute): a
    heartbeat that comes sooner repeats it, because a large cluster has many pods to count."""

    properties_patience: timedelta = timedelta(seconds=10)
    """How long a heartbeat waits for nodes and pods to be counted (default 10 s); then it says
    so, and goes out with those of before."""

    collect_namespaces: bool = False
    """Whether to report the cluster's namespaces (default no, as KubeFleet's agent has it): then
    a ResourcePlacement is placed only where its namespace is, and waits elsewhere."""

    namespaces_limit: int = 200
    """How many namespaces are reported at most (default 200): each heartbeat writes them all,
    and the condition says when some are left out."""

    namespaces_pause: timedelta = timedelta(seconds=1)
    """From a change of namespaces to the report of it (default 1 s): many are made in a row."""

    restart_pause: timedelta = timedelta(seconds=60)
    """How soon an agent in a pool starts again after its member refused it something it cannot
    do without (default 60 s): someone has to grant it first."""

    hung_after: timedelta = timedelta(minutes=10)
    """How long no request of a Work or of a heartbeat may end before the agent counts as hung
    (default 10 minutes). A request ends after 30 s at the latest, but a Work may have to wait until
    some hundred objects of others had their turn at a slow member."""
