"""Envelopes: objects that are placed on clusters but must not take effect on the hub.

contract: placement 1 and 10
"""

from typing import Annotated, Any, ClassVar

from api.base import KubernetesObject
from api.kinds import CLUSTER_RESOURCE_ENVELOPE, RESOURCE_ENVELOPE
from api.markers import Resource, Unchecked, max_properties, min_properties

EnvelopedObject = Annotated[dict[str, Any], Unchecked()]
"""Any object as it is on the wire; the hub does not look into it."""


class Envelope(KubernetesObject):
    """What the envelopes of both scopes have in common."""

    data: Annotated[dict[str, EnvelopedObject], min_properties(1), max_properties(50)]
    """The objects, each under a name of the user's choice."""


class ClusterResourceEnvelope(Envelope):
    """Holds cluster-scoped objects for the clusters of a placement."""

    resource: ClassVar[Resource] = Resource(
        CLUSTER_RESOURCE_ENVELOPE, has_status=False, other_versions=()
    )

    api_version: str = CLUSTER_RESOURCE_ENVELOPE.api_version
    kind: str = CLUSTER_RESOURCE_ENVELOPE.kind


class ResourceEnvelope(Envelope):
    """Holds objects of its namespace for the clusters of a placement."""

    resource: ClassVar[Resource] = Resource(RESOURCE_ENVELOPE, has_status=False, other_versions=())

    api_version: str = RESOURCE_ENVELOPE.api_version
    kind: str = RESOURCE_ENVELOPE.kind
