"""Envelopes: wrappers of objects that are placed on members but must not take effect on the hub.

contract: placement 1 and 10
"""

from typing import Annotated, Any, ClassVar

from api.base import KubernetesObject
from api.kinds import CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE
from api.markers import Resource, Unchecked, max_properties, min_properties

EnvelopedObject = Annotated[dict[str, Any], Unchecked()]
"""Any object in wire form; the hub does not validate its fields."""


class Envelope(KubernetesObject):
    """Base of the envelopes of both scopes."""

    data: Annotated[dict[str, EnvelopedObject], min_properties(1), max_properties(50)]
    """The objects, each under a name of the user's choice."""


class ClusterResourceEnvelope(Envelope):
    """An envelope of cluster-scoped objects that take effect only on member clusters."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_ENVELOPE, has_status=False, other_versions=()
    )

    api_version: str = CLUSTER_RESOURCE_ENVELOPE.api_version
    kind: str = CLUSTER_RESOURCE_ENVELOPE.kind


class ResourceEnvelope(Envelope):
    """An envelope of objects of its namespace that take effect only on member clusters."""

    resource: ClassVar[Resource] = Resource(RESOURCE_ENVELOPE, has_status=False, other_versions=())

    api_version: str = RESOURCE_ENVELOPE.api_version
    kind: str = RESOURCE_ENVELOPE.kind
