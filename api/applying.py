"""Options for applying a placement's objects to a member and reporting their status back.

contract: placement 2.3
"""

from enum import StrEnum
from typing import Annotated

from api.base import FrozenModel
from api.markers import CelRule, Defaulted, Required


class ApplyType(StrEnum):
    """How objects are applied."""

    CLIENT_SIDE_APPLY = "ClientSideApply"
    SERVER_SIDE_APPLY = "ServerSideApply"
    REPORT_DIFF = "ReportDiff"


class ComparisonOption(StrEnum):
    """Which fields are compared to find drift and differences."""

    PARTIAL = "PartialComparison"
    FULL = "FullComparison"


class WhenToApply(StrEnum):
    """Whether drift on the member blocks applying."""

    ALWAYS = "Always"
    IF_NOT_DRIFTED = "IfNotDrifted"


class WhenToTakeOver(StrEnum):
    """Whether objects that already exist on the member are taken over."""

    ALWAYS = "Always"
    IF_NO_DIFF = "IfNoDiff"
    NEVER = "Never"


class ServerSideApplyConfig(FrozenModel):
    """Options for server-side apply."""

    force: bool = False
    """Take over fields from other managers instead of failing with a conflict."""


class ApplyStrategy(FrozenModel):
    """How objects are applied to the member; unset fields take KubeFleet's defaults."""

    comparison_option: Annotated[ComparisonOption, Defaulted()] = ComparisonOption.PARTIAL
    """Compare only the fields that the hub manages, or the whole object."""
    when_to_apply: Annotated[WhenToApply, Defaulted()] = WhenToApply.ALWAYS
    """Always apply, or apply only while the object has not drifted on the member."""
    type: Annotated[ApplyType, Defaulted()] = ApplyType.CLIENT_SIDE_APPLY
    """Apply client-side or server-side, or only report differences."""
    allow_co_ownership: bool = False
    """Allow objects to have other owners outside the fleet."""
    server_side_apply_config: ServerSideApplyConfig | None = None
    """Options for type ServerSideApply."""
    when_to_take_over: Annotated[WhenToTakeOver, Defaulted()] = WhenToTakeOver.ALWAYS
    """Take over objects that already exist on the member: always, only if equal, or never."""


class ReportBackType(StrEnum):
    """Whether an object's status on the member is reported back to the hub."""

    DISABLED = "Disabled"
    MIRROR = "Mirror"


class ReportBackDestination(StrEnum):
    """Where a reported status is written."""

    ORIGINAL_RESOURCE = "OriginalResource"
    WORK_API = "WorkAPI"


MIRROR_NEEDS_DESTINATION = CelRule(
    "self.type != 'Mirror' || has(self.destination)",
    "when reportBackStrategy.type is 'Mirror', a destination must be specified",
)


class ReportBackStrategy(FrozenModel):
    """Whether and where the status of placed objects is reported back to the hub."""

    type: Annotated[ReportBackType, Defaulted(), Required()] = ReportBackType.DISABLED
    """Mirror reports the status back; Disabled does not."""
    destination: ReportBackDestination | None = None
    """Write the status to the original object on the hub, or to the Work."""
