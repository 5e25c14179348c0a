"""Strategies: the stages of a rollout, the clusters in them, and the gates between them.

contract: update-runs 1 and 3
"""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from api.base import FrozenModel, KubernetesObject, Open
from api.kinds import CLUSTER_STAGED_UPDATE_STRATEGY, STAGED_UPDATE_STRATEGY
from api.markers import (
    Atomic,
    CelRule,
    Defaulted,
    Resource,
    max_items,
    max_length,
    one_of,
    pattern,
)
from api.selectors import LabelSelector


class StageTaskType(StrEnum):
    """What a gate waits for."""

    TIMED_WAIT = "TimedWait"
    APPROVAL = "Approval"


class StageTask(FrozenModel):
    """One gate before or after a stage."""

    type: Annotated[Open[StageTaskType], one_of(StageTaskType)]
    """Wait for a fixed time, or for a person's approval."""
    wait_time: Annotated[str, pattern(r"^(?:(?:0|[1-9][0-9]*)(\.[0-9]+)?(?:s|m|h))+$")] | None = (
        None
    )
    """How long a TimedWait takes, such as 30s or 1h30m; not allowed for an Approval."""


NO_WAIT_FOR_APPROVAL = CelRule(
    "!self.exists(task, task.type == 'Approval' && has(task.waitTime))",
    # Says After for tasks before a stage too, as KubeFleet does.
    "AfterStageTaskType is Approval, waitTime is not allowed",
)
WAIT_FOR_TIMED_WAIT = CelRule(
    "!self.exists(task, task.type == 'TimedWait' && !has(task.waitTime))",
    "AfterStageTaskType is TimedWait, waitTime is required",
)
NO_TIMED_WAIT = CelRule(
    "!self.exists(task, task.type == 'TimedWait')",
    "BeforeStageTaskType cannot be TimedWait",
)
UNIQUE_STAGE_NAMES = CelRule(
    "self.all(stage, self.exists_one(other, other.name == stage.name))",
    "stage names must be unique: give each stage a name of its own",
)


class Stage(FrozenModel):
    """A group of clusters that are updated together."""

    # A DNS label, where KubeFleet allows no hyphen (contract decision 2).
    name: Annotated[str, max_length(63), pattern("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")]
    """Name of the stage, unique in the strategy: lower case letters, digits and hyphens."""
    label_selector: Annotated[LabelSelector, Atomic()] | None = None
    """Which of the placement's clusters belong to the stage: none if absent, all if {}."""
    sorting_label_key: str | None = None
    """Label whose integer value orders the updates of clusters; if absent, names do."""
    max_concurrency: Annotated[
        int | str,
        pattern("^(100|[1-9][0-9]?)%$"),
        CelRule(
            "self == null || type(self) != int || self >= 1",
            "maxConcurrency must be at least 1",
        ),
        Defaulted(),
    ] = 1
    """How many clusters are updated at once: a number, or a percentage such as 50%."""
    after_stage_tasks: Annotated[
        list[StageTask], max_items(2), NO_WAIT_FOR_APPROVAL, WAIT_FOR_TIMED_WAIT
    ] = Field(default_factory=list)
    """Gates to pass, in parallel, after all clusters of the stage are updated."""
    before_stage_tasks: Annotated[
        list[StageTask], max_items(1), NO_WAIT_FOR_APPROVAL, NO_TIMED_WAIT
    ] = Field(default_factory=list)
    """Gates to pass before the first cluster of the stage is updated; only an Approval."""


class StrategySpec(FrozenModel):
    """The stages of a rollout."""

    stages: Annotated[list[Stage], max_items(31), UNIQUE_STAGE_NAMES]
    """The stages, in order."""


class UpdateStrategy(KubernetesObject):
    """Base of the strategies of both scopes."""

    spec: StrategySpec
    """The stages of the rollout."""


class ClusterStagedUpdateStrategy(UpdateStrategy):
    """The stages in which runs update a ClusterResourcePlacement."""

    resource: ClassVar[Resource] = Resource(CLUSTER_STAGED_UPDATE_STRATEGY, short_names=("csus",))

    api_version: str = CLUSTER_STAGED_UPDATE_STRATEGY.api_version
    kind: str = CLUSTER_STAGED_UPDATE_STRATEGY.kind


class StagedUpdateStrategy(UpdateStrategy):
    """The stages in which runs update a ResourcePlacement in the same namespace."""

    resource: ClassVar[Resource] = Resource(
        STAGED_UPDATE_STRATEGY, short_names=("sus",), has_status=False
    )

    api_version: str = STAGED_UPDATE_STRATEGY.api_version
    kind: str = STAGED_UPDATE_STRATEGY.kind
