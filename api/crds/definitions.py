"""CustomResourceDefinitions, built from the models.

contract: update-runs 1, placement 1, decision 16
"""

from typing import Any, Final

from api.approvals import ApprovalRequest, ClusterApprovalRequest
from api.base import KubernetesObject
from api.bindings import ClusterResourceBinding, ResourceBinding
from api.crds.blocks import to_yaml
from api.crds.schemas import object_schema
from api.envelopes import ClusterResourceEnvelope, ResourceEnvelope
from api.kinds import CUSTOM_RESOURCE_DEFINITION
from api.markers import Column, Resource, Schema
from api.members import MemberCluster
from api.overrides import (
    ClusterResourceOverride,
    ClusterResourceOverrideSnapshot,
    ResourceOverride,
    ResourceOverrideSnapshot,
)
from api.placement_statuses import ClusterResourcePlacementStatus
from api.placements import ClusterResourcePlacement, ResourcePlacement
from api.policies import ClusterSchedulingPolicySnapshot, SchedulingPolicySnapshot
from api.rollout_decisions import ClusterRolloutDecision, RolloutDecision
from api.rollout_policies import ClusterRolloutPolicy, RolloutPolicy
from api.rollout_reports import ClusterRolloutReport, RolloutReport
from api.runs import ClusterStagedUpdateRun, StagedUpdateRun
from api.snapshots import ClusterResourceSnapshot, ResourceSnapshot
from api.strategies import ClusterStagedUpdateStrategy, StagedUpdateStrategy
from api.works import AppliedWork, Work

MODELS: Final[tuple[type[KubernetesObject], ...]] = (
    ClusterStagedUpdateRun,
    StagedUpdateRun,
    ClusterStagedUpdateStrategy,
    StagedUpdateStrategy,
    ClusterApprovalRequest,
    ApprovalRequest,
    ClusterResourcePlacement,
    ResourcePlacement,
    ClusterResourcePlacementStatus,
    ClusterSchedulingPolicySnapshot,
    SchedulingPolicySnapshot,
    ClusterResourceSnapshot,
    ResourceSnapshot,
    ClusterResourceBinding,
    ResourceBinding,
    ClusterResourceOverride,
    ResourceOverride,
    ClusterResourceOverrideSnapshot,
    ResourceOverrideSnapshot,
    ClusterResourceEnvelope,
    ResourceEnvelope,
    Work,
    AppliedWork,
    MemberCluster,
    ClusterRolloutPolicy,
    RolloutPolicy,
    ClusterRolloutReport,
    RolloutReport,
    ClusterRolloutDecision,
    RolloutDecision,
)
"""The kinds that have a CRD."""

HEADER: Final = (
    "# Generated from the models in api/ by `python -m api.crds deploy/crds`. Do not edit.\n"
)


def definition(model: type[KubernetesObject]) -> dict[str, Any]:
    """Return the CRD of the kind of `model`."""
    resource = model.resource
    kind = resource.kind
    schema = object_schema(model)
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITION.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITION.kind,
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": _names(resource),
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                _version(resource, name, schema)
                for name in (*resource.other_versions, kind.version)
            ],
        },
    }


def _names(resource: Resource) -> dict[str, Any]:
    kind = resource.kind
    names: dict[str, Any] = {
        "categories": list(resource.categories),
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
    }
    if resource.short_names:
        names["shortNames"] = list(resource.short_names)
    return names


def _version(resource: Resource, name: str, schema: Schema) -> dict[str, Any]:
    version: dict[str, Any] = {
        "name": name,
        "served": True,
        "storage": name == resource.kind.version,
        "schema": {"openAPIV3Schema": schema},
    }
    if resource.columns:
        version["additionalPrinterColumns"] = [_column(column) for column in resource.columns]
    if resource.has_status:
        version["subresources"] = {"status": {}}
    return version


def _column(column: Column) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": column.name,
        "jsonPath": column.json_path,
        "type": column.type,
    }
    if column.priority:
        shown["priority"] = column.priority
    return shown


def file_name(model: type[KubernetesObject]) -> str:
    """Return the name of the file that the CRD of `model` belongs in."""
    kind = model.resource.kind
    return f"{kind.group}_{kind.plural}.yaml"


def render(model: type[KubernetesObject]) -> str:
    """Return the CRD of `model` as YAML text."""
    return HEADER + to_yaml(definition(model))
