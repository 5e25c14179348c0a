"""Rollout strategies: how a placement moves from one snapshot to the next.

contract: placement 2.3
"""

from enum import StrEnum
from typing import Annotated

from api.applying import MIRROR_NEEDS_DESTINATION, ApplyStrategy, ReportBackStrategy
from api.base import FrozenModel
from api.markers import CelRule, Defaulted, minimum, pattern


class RolloutStrategyType(StrEnum):
    """Whether a placement rolls out by itself or through staged update runs."""

    ROLLING_UPDATE = "RollingUpdate"
    EXTERNAL = "External"


class DeletePropagationPolicy(StrEnum):
    """What happens to placed objects when the placement is deleted."""

    ABANDON = "Abandon"
    DELETE = "Delete"


_SHARE = pattern("^((100|[0-9]{1,2})%|[0-9]+)$")


class RollingUpdateConfig(FrozenModel):
    """Pace of a rolling update, from one snapshot to the next without runs."""

    max_unavailable: Annotated[int | str, _SHARE, Defaulted()] = "25%"
    """How many clusters may be unavailable: a number, or a percentage."""
    max_surge: Annotated[int | str, _SHARE, Defaulted()] = "25%"
    """How many clusters beyond the desired number may be used: a number, or a percentage."""
    unavailable_period_seconds: Annotated[int, minimum(0), Defaulted()] = 60
    """Seconds during which an object without trackable availability counts as unavailable."""


class DeleteStrategy(FrozenModel):
    """What happens when the placement is deleted."""

    propagation_policy: Annotated[DeletePropagationPolicy, Defaulted()] = (
        DeletePropagationPolicy.DELETE
    )
    """Delete the placed objects, or leave them on the members."""


class RolloutStrategy(FrozenModel):
    """How changes of the content are rolled out, and how objects are applied."""

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
    """Pace of the rolling update; only for type RollingUpdate."""
    apply_strategy: ApplyStrategy | None = None
    """How objects are applied to the members."""
    delete_strategy: DeleteStrategy | None = None
    """What happens when the placement is deleted."""
    report_back_strategy: Annotated[ReportBackStrategy, MIRROR_NEEDS_DESTINATION] | None = None
    """Whether the status of objects on the members is reported back to the hub."""
