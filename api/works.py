"""Works: the objects that one member is to have, and what became of them.

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
    """Objects for a member."""

    manifests: list[Manifest] = Field(default_factory=list)
    """The objects as they are to be on the member."""


class WorkSpec(ApiModel):
    """What a member is to have, and how it is applied."""

    workload: Workload = Field(default_factory=Workload)
    """The objects."""
    apply_strategy: ApplyStrategy | None = None
    """How they are applied."""
    report_back_strategy: ReportBackStrategy | None = None
    """Whether their status is reported back to the hub."""


class WorkResourceIdentifier(ApiModel):
    """Points at an object of a Work."""

    ordinal: int
    """Position of the object in the Work."""
    group: str = ""
    """API group; empty for the core group."""
    version: str = ""
    """API version."""
    kind: str = ""
    """Kind of the object."""
    resource: str = ""
    """Plural of the kind."""
    namespace: str = ""
    """Namespace of the object; empty for a cluster-scoped one."""
    name: str = ""
    """Name of the object."""


class DriftDetails(ApiModel):
    """How an object was changed on the member after it was applied."""

    observation_time: Time
    """When the drift was last seen."""
    observed_in_member_cluster_generation: Int64
    """Generation of the object on the member; 0 for kinds without."""
    first_drifted_observed_time: Time
    """When the drift was first seen."""
    observed_drifts: list[PatchDetail] = Field(default_factory=list)
    """What drifted."""


class DiffDetails(ApiModel):
    """How an object differs between the hub and the member."""

    observation_time: Time
    """When the difference was last seen."""
    observed_in_member_cluster_generation: Int64 | None = None
    """Generation of the object on the member; absent if it is not there."""
    first_diffed_observed_time: Time
    """When the difference was first seen."""
    observed_diffs: list[PatchDetail] = Field(default_factory=list)
    """What differs."""


class BackReportedStatus(ApiModel):
    """The status of an object on the member."""

    observed_status: Manifest | None = None
    """The object's apiVersion, kind and status."""
    observation_time: Time
    """When it was read."""


class ManifestCondition(ApiModel):
    """What became of one object."""

    identifier: WorkResourceIdentifier
    """Which object."""
    conditions: list[Condition]
    """Applied and Available, or DiffReported."""
    drift_details: DriftDetails | None = None
    """How the object was changed on the member."""
    diff_details: DiffDetails | None = None
    """How the object differs from the hub."""
    back_reported_status: BackReportedStatus | None = None
    """The object's status on the member."""


class WorkStatus(ApiModel):
    """What became of the objects."""

    conditions: Annotated[list[Condition], Required()] = Field(default_factory=list)
    """Applied and Available, or DiffReported; over all objects."""
    manifest_conditions: list[ManifestCondition] = Field(default_factory=list)
    """One entry an object."""


class Work(KubernetesObject):
    """Objects that the member of this namespace is to have."""

    resource: ClassVar[Resource] = Resource(WORK)

    api_version: str = WORK.api_version
    kind: str = WORK.kind
    spec: WorkSpec = Field(default_factory=WorkSpec)
    """What the member is to have."""
    status: WorkStatus = Field(default_factory=WorkStatus)
    """What became of it."""


class AppliedWorkSpec(ApiModel):
    """Which Work the object stands for."""

    work_name: str
    """Name of the Work."""
    work_namespace: str
    """Namespace of the Work on the hub."""


class AppliedResource(WorkResourceIdentifier):
    """Points at an object that was applied."""

    uid: str = ""
    """The object's uid on the member."""


class AppliedWorkStatus(ApiModel):
    """What was applied."""

    applied_resources: list[AppliedResource] = Field(default_factory=list)
    """The objects that were applied."""


class AppliedWork(KubernetesObject):
    """Stands for a Work on the member, and owns the objects that were applied."""

    resource: ClassVar[Resource] = Resource(APPLIED_WORK)

    api_version: str = APPLIED_WORK.api_version
    kind: str = APPLIED_WORK.kind
    spec: AppliedWorkSpec
    """Which Work the object stands for."""
    status: AppliedWorkStatus = Field(default_factory=AppliedWorkStatus)
    """What was applied."""
