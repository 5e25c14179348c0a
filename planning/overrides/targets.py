"""The objects of a placement's content that an override can select.

contract: placement 9 and 10
"""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from api.kinds import NAMESPACE
from planning import envelopes, failures
from planning.overrides.errors import UnreadableError
from planning.resource_order import Identity

Json = dict[str, Any]


def targets(resources: Iterable[Json]) -> frozenset[Identity]:
    """Return every object by which an override may select these resources.

    These are the resources themselves, the objects inside envelopes, and the namespaces of
    both: an override of a namespace applies to everything in it.

    Raises:
        UnreadableError: an envelope holds an entry that is not an object.
    """
    found: set[Identity] = set()
    for resource in resources:
        for identity in _identities(resource):
            found.add(identity)
            if identity.namespace:
                found.add(namespace(identity.namespace))
    return frozenset(found)


def namespace(name: str) -> Identity:
    """Return the identity of a Namespace."""
    return Identity(NAMESPACE.group, NAMESPACE.version, NAMESPACE.kind, "", name)


class _Metadata(BaseModel):
    # The API server does not check the content of envelopes, where null often means unset.
    name: str | None = None
    namespace: str | None = None


class _Object(BaseModel):
    """The fields of an object that identify it."""

    # Errors name the invalid field but never its content, which may be a secret.
    model_config = ConfigDict(hide_input_in_errors=True)

    api_version: str = Field(alias="apiVersion")
    kind: str
    metadata: _Metadata | None = None

    @property
    def identity(self) -> Identity:
        group, _, version = self.api_version.rpartition("/")
        metadata = self.metadata or _Metadata()
        return Identity(group, version, self.kind, metadata.namespace or "", metadata.name or "")


class _Envelope(_Object):
    data: dict[str, _Object] = {}


def _identities(resource: Json) -> list[Identity]:
    outer = _Object.model_validate(resource).identity
    if (outer.group, outer.kind) not in envelopes.KINDS:
        return [outer]
    try:
        envelope = _Envelope.model_validate(resource)
    except ValidationError as error:
        raise _no_object(outer, error) from error
    return [outer, *(each.identity for each in envelope.data.values())]


def _no_object(envelope: Identity, error: ValidationError) -> UnreadableError:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return UnreadableError(
        failures.ENVELOPE_NOT_READABLE,
        kind=envelope.kind,
        name=f"{envelope.namespace}/{envelope.name}",
        why=f"{field}: {first['msg']}",
    )
