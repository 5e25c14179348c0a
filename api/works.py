"""Works: objects to apply on one member, and their outcome.

contract: placement 1 and 8
"""

from typing import Annotated, ClassVar

from pydantic import Field

from api.applying import ApplyStrategy, ReportBackStrategy
from api.base import ApiModel, Condition, Int64, KubernetesObject, Manifest, Time
from api.kinds import APPLIED_WORK, WORK
from api.markers import Required, Resource
from api.outcomes import PatchDetail


class Workload(ApiModel):
    """Objects to apply on a member."""

    manifests: list[Manifest] = Field(default_factory=list)
    """The objects as they should be on the member."""


class WorkSpec(ApiModel):
    """The objects to apply on a member, and how to apply them."""

    workload: Workload = Field(default_factory=Workload)
    """The objects to apply."""
    apply_strategy: ApplyStrategy | None = None
    """How the objects are applied."""
    report_back_strategy: ReportBackStrategy | None = None
    """Whether their status is reported back to the hub."""


class WorkResourceIdentifier(ApiModel):
    """A reference to an object of a Work."""

    ordinal: int
    """Position of the object in the Work."""
    group: str = ""
    """API group; empty for the core group."""
    version: str = ""
    """API version."""
    kind: str = ""
    """Kind of the object."""
    resource: str = ""
    """Plural name of the kind."""
    namespace: str = ""
    """Namespace of the object; empty for a cluster-scoped one."""
    name: str = ""
    """Name of the object."""


class DriftDetails(ApiModel):
    """How an object was changed on the member after it was applied."""

    observation_time: Time
    """When the drift was last seen."""
    observed_in_member_cluster_generation: Int64
    """Generation of the object on the member; 0 for kinds without generations."""
    first_drifted_observed_time: Time
    """When the drift was first seen."""
    observed_drifts: list[PatchDetail] = Field(default_factory=list)
    """Fields that drifted."""


class DiffDetails(ApiModel):
    """How an object differs between the hub and the member."""

    observation_time: Time
    """When the difference was last seen."""
    observed_in_member_cluster_generation: Int64 | None = None
    """Generation of the object on the member; absent if the object does not exist."""
    first_diffed_observed_time: Time
    """When the difference was first seen."""
    observed_diffs: list[PatchDetail] = Field(default_factory=list)
    """Fields that differ."""


class BackReportedStatus(ApiModel):
    """The status of an object on the member."""

    observed_status: Manifest | None = None
    """The object's apiVersion, kind and status."""
    observation_time: Time
    """When the status was read."""


class ManifestCondition(ApiModel):
    """Outcome of one object."""

    identifier: WorkResourceIdentifier
    """The object that the conditions apply to."""
    conditions: list[Condition]
    """Applied and Available, or DiffReported."""
    drift_details: DriftDetails | None = None
    """How the object was changed on the member."""
    diff_details: DiffDetails | None = None
    """How the object differs from the hub."""
    back_reported_status: BackReportedStatus | None = None
    """The object's status on the member."""


class WorkStatus(ApiModel):
    """Outcome of the objects on the member."""

    conditions: Annotated[list[Condition], Required()] = Field(default_factory=list)
    """Applied and Available, or DiffReported; aggregated over all objects."""
    manifest_conditions: list[ManifestCondition] = Field(default_factory=list)
    """One entry per object."""


class Work(KubernetesObject):
    """Objects to apply on the member that the namespace belongs to."""

    resource: ClassVar[Resource] = Resource(WORK)

    api_version: str = WORK.api_version
    kind: str = WORK.kind
    spec: WorkSpec = Field(default_factory=WorkSpec)
    """The objects to apply, and how to apply them."""
    status: WorkStatus = Field(default_factory=WorkStatus)
    """Outcome of the objects on the member."""


class AppliedWorkSpec(ApiModel):
    """The Work that the object represents."""

    work_name: str
    """Name of the Work."""
    work_namespace: str
    """Namespace of the Work on the hub."""


class AppliedResource(WorkResourceIdentifier):
    """A reference to an object that was applied."""

    uid: str = ""
    """The object's uid on the member."""


class AppliedWorkStatus(ApiModel):
    """The objects that were applied."""

    applied_resources: list[AppliedResource] = Field(default_factory=list)
    """The objects that were applied."""


class AppliedWork(KubernetesObject):
    """A representation of a Work on the member, which owns the objects that were applied."""

    resource: ClassVar[Resource] = Resource(APPLIED_WORK)

    api_version: str = APPLIED_WORK.api_version
    kind: str = APPLIED_WORK.kind
    spec: AppliedWorkSpec
    """The Work that the object represents."""
    status: AppliedWorkStatus = Field(default_factory=AppliedWorkStatus)
    """The objects that were applied."""
