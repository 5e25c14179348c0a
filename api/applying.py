"""How the objects of a placement are applied to a member.

contract: placement 2.3
"""

from enum import StrEnum
from typing import Annotated

from api.base import FrozenModel
from api.markers import CelRule, Defaulted, Required


class ApplyType(StrEnum):
    """How an object is written."""

    CLIENT_SIDE_APPLY = "ClientSideApply"
    SERVER_SIDE_APPLY = "ServerSideApply"
    REPORT_DIFF = "ReportDiff"


class ComparisonOption(StrEnum):
    """Which fields count as drift or difference."""

    PARTIAL = "PartialComparison"
    FULL = "FullComparison"


class WhenToApply(StrEnum):
    """Whether drift on the member stops applying."""

    ALWAYS = "Always"
    IF_NOT_DRIFTED = "IfNotDrifted"


class WhenToTakeOver(StrEnum):
    """Whether objects that exist on the member already are taken over."""

    ALWAYS = "Always"
    IF_NO_DIFF = "IfNoDiff"
    NEVER = "Never"


class ServerSideApplyConfig(FrozenModel):
    """Options for server-side apply."""

    force: bool = False
    """Take fields over from other managers instead of failing with a conflict."""


class ApplyStrategy(FrozenModel):
    """How objects are applied to the member; unset fields have KubeFleet's defaults."""

    comparison_option: Annotated[ComparisonOption, Defaulted()] = ComparisonOption.PARTIAL
    """Compare only the fields that the hub manages, or the whole object."""
    when_to_apply: Annotated[WhenToApply, Defaulted()] = WhenToApply.ALWAYS
    """Apply always, or only while the object has not drifted on the member."""
    type: Annotated[ApplyType, Defaulted()] = ApplyType.CLIENT_SIDE_APPLY
    """Apply on the client side or the server side, or only report differences."""
    allow_co_ownership: bool = False
    """Share objects with owners that are not part of the fleet."""
    server_side_apply_config: ServerSideApplyConfig | None = None
    """Options for type ServerSideApply."""
    when_to_take_over: Annotated[WhenToTakeOver, Defaulted()] = WhenToTakeOver.ALWAYS
    """Take over an object that is on the member already: always, if it is equal, or never."""


class ReportBackType(StrEnum):
    """Whether a member's status of an object comes back to the hub."""

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
    """Mirror the status, or do not."""
    destination: ReportBackDestination | None = None
    """Write it to the original object on the hub, or to the Work."""
