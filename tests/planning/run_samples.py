"""A sample fleet and a run on it, which tests modify."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from api.applying import ApplyStrategy
from api.kinds import ScopeName
from api.runs import UpdateRunSpec, UpdateRunStatus
from api.selectors import LabelSelector
from api.strategies import Stage, StageTask, StageTaskType, StrategySpec
from planning.identity import RunRef
from planning.runs import initialization
from planning.runs.facts import (
    BindingFact,
    ClusterFact,
    HubFacts,
    PlacementFact,
    PolicyFact,
    SnapshotFacts,
)
from planning.runs.ledger import Ledger

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)
APPROVAL = StageTask(type=StageTaskType.APPROVAL)
WAIT = StageTask(type=StageTaskType.TIMED_WAIT, wait_time="90s")

CLUSTER_RUN = RunRef(scope_name=ScopeName.CLUSTER, name="v2", uid="u-1")
NAMESPACED_RUN = RunRef(scope_name=ScopeName.NAMESPACED, namespace="team", name="v2", uid="u-2")

both_scopes = pytest.mark.parametrize(
    ("run", "ns"), [(CLUSTER_RUN, ""), (NAMESPACED_RUN, "team")], ids=["csur", "sur"]
)
"""A run of each scope, with the namespace in its messages."""


def stage(name: str = "prod", env: str = "prod", **changed: Any) -> Stage:
    """Return a stage with the clusters of an environment."""
    fields = {"label_selector": LabelSelector(match_labels={"env": env})} | changed
    return Stage(name=name, **fields)


def strategy(*stages: Stage) -> StrategySpec:
    return StrategySpec(stages=list(stages))


def cluster(name: str, env: str = "prod", **labels: str) -> ClusterFact:
    return ClusterFact(name=name, labels={"env": env} | labels)


def binding(name: str, **changed: Any) -> BindingFact:
    """Return a binding for the cluster of that name."""
    fields = {"policy_snapshot": "web-0", "state": "Scheduled", "cluster": name} | changed
    return BindingFact(name=f"web-{name}", **fields)


def policy(**changed: Any) -> PolicyFact:
    return PolicyFact(**{"name": "web-0", "index": "0", "scheduled": True} | changed)


def facts(**changed: Any) -> HubFacts:
    """Return facts of placement web on the clusters a and b, both in the only stage, prod."""
    spec = UpdateRunSpec(placement_name="web", staged_rollout_strategy_name="slow")
    fields = {
        "spec": spec,
        "generation": 1,
        "placement": PlacementFact(strategy_type="External", apply_strategy=ApplyStrategy()),
        "policies": [policy()],
        "bindings": [binding("a"), binding("b")],
        "strategy": strategy(stage()),
        "clusters": [cluster("a"), cluster("b")],
    }
    return HubFacts(**fields | changed)


def planned(known: HubFacts, *, run: RunRef = CLUSTER_RUN) -> UpdateRunStatus:
    """Return the status of a run that was initialized from facts, with snapshot 1."""
    status = UpdateRunStatus()
    initialization.plan(known, run=run, status=status)
    snapshot = SnapshotFacts(index="1", name="web-1-snapshot")
    initialization.record_snapshot(snapshot, status=status)
    return status


def ledger(
    *stages: Stage,
    leaving: tuple[str, ...] = (),
    others: tuple[str, ...] = (),
    generation: int = 1,
) -> Ledger:
    """Return the ledger of a run on the clusters a and b, by default in the only stage, prod.

    `others` are further clusters, of the environment `other`.
    """
    gone = [binding(name, state="Unscheduled") for name in leaving]
    picked = ["a", "b", *others]
    known = facts(
        strategy=strategy(*(stages or (stage(),))),
        bindings=[*map(binding, picked), *gone],
        clusters=[cluster(name, "other" if name in others else "prod") for name in picked],
    )
    return Ledger(planned(known), generation=generation)
