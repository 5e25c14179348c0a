"""The parts of an object that an override may change.

contract: placement 9 (path rules)
"""

from typing import Final

from api.overrides import JsonPatchOverride, PatchOperation

_OPEN_METADATA: Final = ("annotations", "labels")


def refusal(override: JsonPatchOverride) -> str:
    """Return why an override is not allowed; empty if it is.

    KubeFleet's webhook checks this when an override is written. A hub without it accepts the
    override, and an object must not turn into another one on its way to a member.
    """
    if override.op == PatchOperation.REMOVE and override.value is not None:
        return "remove operation cannot have value"
    return _refused_path(override.path)


def _refused_path(path: str) -> str:
    if not path:
        return "path cannot be empty"
    if not path.startswith("/"):
        return "path must start with /"
    parts = path[1:].split("/")
    if parts[0] in ("kind", "apiVersion"):
        return "cannot override typeMeta fields"
    if parts[0] == "status":
        return "cannot override status fields"
    if parts == ["metadata"]:
        return "cannot override field metadata"
    if parts[0] == "metadata" and parts[1] not in _OPEN_METADATA:
        return "cannot override metadata fields except annotations and labels"
    return "path cannot contain empty string" if "" in parts else ""
