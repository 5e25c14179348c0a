"""Reading the manifests of a Work: which object on the member each one stands for.

contract: placement 8 (identifiers, DecodingErred, FoundGenerateName, Duplicated)
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from api.kinds import Kind
from api.names import ENVELOPE_NAMESPACE, PARENT_PLACEMENT_NAMESPACE
from api.reasons import ApplyError, ManifestReason
from api.works import Work, WorkResourceIdentifier
from hub import Hub, Json
from planning.members.applied_bodies import cleaned
from planning.members.applied_resources import Identity, identity
from planning.members.outcomes import Refusal


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object that a member should have."""

    identifier: WorkResourceIdentifier
    body: Json
    """The object without the fields that only its own cluster sets."""
    kind: Kind | None
    """How the member serves the kind; None if it does not."""
    refusal: Refusal | None = None
    """Why it cannot be applied, regardless of the member; None if it may be tried."""
    fence: str = ""
    """The only namespace that the object may be in; empty if there is no restriction."""


async def read(work: Work, *, cluster: Hub) -> list[Manifest]:
    """Read all manifests of a Work, asking the member how it serves their kinds.

    The agent may write anything on its member, but the author of a ResourcePlacement or a
    ResourceEnvelope may not. A Work made from one is therefore restricted to objects of its
    namespace, and anything else in it is refused.
    """
    fence = _fence(work)
    bodies = [cleaned(each) for each in work.spec.workload.manifests]
    kinds = await _kinds({_type_of(body) for body in bodies}, cluster=cluster)
    manifests: list[Manifest] = []
    seen: set[Identity] = set()
    for ordinal, body in enumerate(bodies):
        manifest = _read(ordinal, body, kinds.get(_type_of(body)), fence=fence)
        if manifest.refusal is None and identity(manifest.identifier) in seen:
            manifest = _refused(manifest, ManifestReason.DUPLICATED, ApplyError.DUPLICATED)
        seen.add(identity(manifest.identifier))
        manifests.append(manifest)
    return manifests


def _fence(work: Work) -> str:
    """Return the namespace that a Work is restricted to; empty if its source is cluster-scoped."""
    labels = work.metadata.labels
    return labels.get(ENVELOPE_NAMESPACE) or labels.get(PARENT_PLACEMENT_NAMESPACE, "")


async def serve(manifest: Manifest, *, cluster: Hub) -> Manifest:
    """Look up the kind again if it was not served: its definition may have been applied since."""
    if manifest.kind is not None or manifest.refusal is not None:
        return manifest
    kind = await cluster.kind_for(*_type_of(manifest.body))
    ordinal, fence = manifest.identifier.ordinal, manifest.fence
    return _read(ordinal, manifest.body, kind, fence=fence, final=True)


def without_content(manifest: Manifest) -> Manifest:
    """Return a processed manifest with its body reduced to the type."""
    api_version, kind = _type_of(manifest.body)
    return replace(manifest, body={"apiVersion": api_version, "kind": kind})


async def _kinds(
    types: Iterable[tuple[str, str]], *, cluster: Hub
) -> dict[tuple[str, str], Kind | None]:
    # One at a time: each unknown kind makes the client ask the server again.
    return {each: await cluster.kind_for(*each) for each in sorted(types)}


def _type_of(body: Json) -> tuple[str, str]:
    return str(body.get("apiVersion", "")), str(body.get("kind", ""))


def _read(
    ordinal: int, body: Json, kind: Kind | None, *, fence: str, final: bool = False
) -> Manifest:
    identifier = _identifier(ordinal, body, kind)
    manifest = Manifest(identifier=identifier, body=body, kind=kind, fence=fence)
    if not identifier.name and body["metadata"].get("generateName"):
        return _refused(manifest, ManifestReason.GENERATE_NAME, ApplyError.GENERATE_NAME)
    problem = _problem(identifier, kind, final=final)
    if problem:
        error = f"failed to decode manifest: {problem}"
        return _refused(manifest, ManifestReason.DECODING_ERROR, error)
    if kind and (trespass := _trespass(identifier, kind, fence)):
        return _refused(manifest, ManifestReason.APPLY_FAILED, trespass)
    return manifest


def _identifier(ordinal: int, body: Json, kind: Kind | None) -> WorkResourceIdentifier:
    group, _, version = _type_of(body)[0].rpartition("/")
    metadata = body["metadata"]
    said = {
        "ordinal": ordinal,
        "group": group,
        "version": version,
        "kind": body.get("kind", ""),
        "resource": kind.plural if kind else "",
        "namespace": metadata.get("namespace", ""),
        "name": metadata.get("name", ""),
    }
    # Empty fields stay unset, so that they are not written.
    return WorkResourceIdentifier.model_validate(
        {key: value for key, value in said.items() if value or key == "ordinal"}
    )


def _problem(identifier: WorkResourceIdentifier, kind: Kind | None, *, final: bool) -> str:
    if not identifier.kind or not identifier.name:
        return "the object has no kind or no name"
    if kind is None:
        served = f'no matches for kind "{identifier.kind}" in version "{_api_version(identifier)}"'
        looked = "failed to find GVR from member cluster client REST mapping"
        return f"{looked}: {served}" if final else ""
    if kind.namespaced and not identifier.namespace:
        return f"{identifier.kind} {identifier.name!r} needs a namespace"
    if identifier.namespace and not kind.namespaced:
        # The API path would drop the namespace, and an object meant for one team would be global.
        return (
            f"{identifier.kind} {identifier.name!r} is cluster-scoped, "
            f"but its manifest sets namespace {identifier.namespace!r}"
        )
    return ""


def _trespass(identifier: WorkResourceIdentifier, kind: Kind, fence: str) -> str:
    if not fence or (kind.namespaced and identifier.namespace == fence):
        return ""
    where = f"is in namespace {identifier.namespace!r}" if kind.namespaced else "is cluster-scoped"
    return (
        f"{identifier.kind} {identifier.name!r} {where}: "
        f"objects from namespace {fence!r} of the hub must stay in that namespace"
    )


def _api_version(identifier: WorkResourceIdentifier) -> str:
    return f"{identifier.group}/{identifier.version}" if identifier.group else identifier.version


def _refused(manifest: Manifest, reason: ManifestReason, error: str) -> Manifest:
    return replace(manifest, refusal=Refusal(reason, error))
