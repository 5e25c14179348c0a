"""Rollout strategies: who moves a placement from one version to the next, and how.

contract: placement 2.3
"""

from enum import StrEnum
from typing import Annotated

from api.applying import MIRROR_NEEDS_DESTINATION, ApplyStrategy, ReportBackStrategy
from api.base import FrozenModel
from api.markers import CelRule, Defaulted, minimum, pattern


class RolloutStrategyType(StrEnum):
    """Who moves a placement from one version to the next."""

    ROLLING_UPDATE = "RollingUpdate"
    EXTERNAL = "External"


class DeletePropagationPolicy(StrEnum):
    """What becomes of placed objects when the placement is deleted."""

    ABANDON = "Abandon"
    DELETE = "Delete"


_SHARE = pattern("^((100|[0-9]{1,2})%|[0-9]+)$")


class RollingUpdateConfig(FrozenModel):
    """How fast a placement without runs moves from one version to the next."""

    max_unavailable: Annotated[int | str, _SHARE, Defaulted()] = "25%"
    """How many clusters may be unavailable: a number, or a percentage."""
    max_surge: Annotated[int | str, _SHARE, Defaulted()] = "25%"
    """How many clusters more than wanted may be in use: a number, or a percentage."""
    unavailable_period_seconds: Annotated[int, minimum(0), Defaulted()] = 60
    """How long an object whose availability cannot be told counts as unavailable."""


class DeleteStrategy(FrozenModel):
    """What happens when the placement is deleted."""

    propagation_policy: Annotated[DeletePropagationPolicy, Defaulted()] = (
        DeletePropagationPolicy.DELETE
    )
    """Delete the placed objects, or leave them on the members."""


class RolloutStrategy(FrozenModel):
    """Who moves the placement from one version to the next, and how objects are applied."""

    type: Annotated[
        RolloutStrategyType,
        Defaulted(),
        CelRule(
            "!(oldSelf == 'External' && self != 'External')",
            "cannot change rollout strategy type from 'External' to other types",
        ),
    ] = RolloutStrategyType.ROLLING_UPDATE
    """External leaves the rollout to staged update runs."""
    rolling_update: RollingUpdateConfig | None = None
    """How fast; only for type RollingUpdate."""
    apply_strategy: ApplyStrategy | None = None
    """How objects are applied to the members."""
    delete_strategy: DeleteStrategy | None = None
    """What happens when the placement is deleted."""
    report_back_strategy: Annotated[ReportBackStrategy, MIRROR_NEEDS_DESTINATION] | None = None
    """Whether the members' status of objects is reported back to the hub."""
