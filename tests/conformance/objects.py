"""Objects that people write on a hub, and helpers to read a run's status.

Labels and annotations are spelled out, independent of the product's own constants.
"""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

NUMBER_OF_CLUSTERS = "kubernetes-fleet.io/number-of-clusters"
TARGET_RUN = "kubernetes-fleet.io/targetUpdateRun"
DELETION_STAGE = "kubernetes-fleet.io/deleteStage"
RUN_FINALIZER = "kubernetes-fleet.io/stagedupdaterun-finalizer"

APPLY_DEFAULTS: Json = {
    "comparisonOption": "PartialComparison",
    "type": "ClientSideApply",
    "whenToApply": "Always",
    "whenToTakeOver": "Always",
}
APPROVAL: Json = {"type": "Approval"}


def timed_wait(time: str) -> Json:
    """A task that waits after a stage."""
    return {"type": "TimedWait", "waitTime": time}


def stage(name: str = "one", /, **fields: Any) -> Json:
    """A stage that selects the clusters labelled with its name."""
    return {"name": name, "labelSelector": {"matchLabels": {"stage": name}}, **fields}


def stage_of(run: Json, index: int) -> Json:
    """A stage of a run's status; -1 is the deletion stage."""
    status = run["status"]
    found: Json = status["deletionStageStatus"] if index < 0 else status["stagesStatus"][index]
    return found


def cluster_names(run: Json, index: int = 0) -> list[str]:
    """Names of the clusters of a stage, in order."""
    return [each["clusterName"] for each in stage_of(run, index)["clusters"]]


def types_of(part: Json) -> list[str]:
    """The types of all conditions, in order."""
    return [each["type"] for each in part.get("status", part).get("conditions", [])]


def first(items: Sequence[Json], name: str) -> Json:
    """The cluster entry with this name."""
    return next(each for each in items if each["clusterName"] == name)
