"""URL paths of the API server's resources."""

import re
from typing import Final
from urllib.parse import quote

from api.kinds import NAMESPACE, Kind
from hub.errors import Details, NotFound

_POSSIBLE: Final = re.compile(r"(?!\.{1,2}$)[^/%\x00-\x20\x7f\ud800-\udfff]{1,253}")
"""What the API server takes as a part of a path, at most. `..` would lead elsewhere."""


def collection(kind: Kind, *, namespace: str = "") -> str:
    """Path of all objects of a kind, in one namespace or (when empty) everywhere.

    Raises NotFound when no namespace can have the name.
    """
    if kind.namespaced and namespace:
        return f"{kind.path}/namespaces/{_part(NAMESPACE, namespace)}/{kind.plural}"
    return f"{kind.path}/{kind.plural}"


def item(kind: Kind, name: str, *, namespace: str = "", subresource: str = "") -> str:
    """Path of one object. A namespace is ignored for a cluster-scoped kind.

    Raises NotFound when no object can have the name.
    """
    if kind.namespaced and not namespace:
        raise ValueError(f"{kind} {name!r} needs a namespace")
    path = f"{collection(kind, namespace=namespace)}/{_part(kind, name)}"
    return f"{path}/{subresource}" if subresource else path


def _part(kind: Kind, name: str) -> str:
    if not _POSSIBLE.fullmatch(name):
        # As the API server says it of one that there is not.
        raise NotFound(
            f"{kind} {name!r} not found: no object can have this name",
            details=Details(kind=kind.plural, name=repr(name)),
        )
    return quote(name, safe="")


def resource(kind: Kind, subresource: str = "") -> str:
    """What a request touches, as RBAC writes it: `deployments/status`."""
    return f"{kind.plural}/{subresource}" if subresource else kind.plural
