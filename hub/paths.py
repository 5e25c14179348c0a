"""URL paths of the API server's resources."""

import re
from typing import Final
from urllib.parse import quote

from api.kinds import NAMESPACE, Kind
from hub.errors import Details, NotFound

_POSSIBLE: Final = re.compile(r"(?!\.{1,2}$)[^/%\x00-\x20\x7f\ud800-\udfff]{1,253}")
"""What the API server may accept as a part of a path. `..` would lead to another path."""


def collection(kind: Kind, *, namespace: str = "") -> str:
    """Return the path of all objects of a kind, in one namespace or (if empty) in all.

    Raises NotFound if no namespace can have the name.
    """
    if kind.namespaced and namespace:
        return f"{kind.path}/namespaces/{_part(NAMESPACE, namespace)}/{kind.plural}"
    return f"{kind.path}/{kind.plural}"


def item(kind: Kind, name: str, *, namespace: str = "", subresource: str = "") -> str:
    """Return the path of one object. For a cluster-scoped kind, the namespace is ignored.

    Raises NotFound if no object can have the name.
    """
    if kind.namespaced and not namespace:
        raise ValueError(f"{kind} {name!r} needs a namespace")
    path = f"{collection(kind, namespace=namespace)}/{_part(kind, name)}"
    return f"{path}/{subresource}" if subresource else path


def _part(kind: Kind, name: str) -> str:
    if not _POSSIBLE.fullmatch(name):
        # Like the API server's error for an object that does not exist.
        raise NotFound(
            f"{kind} {name!r} not found: no object can have this name",
            details=Details(kind=kind.plural, name=repr(name)),
        )
    return quote(name, safe="")


def resource(kind: Kind, subresource: str = "") -> str:
    """Return the resource of a request as in RBAC, such as `deployments/status`."""
    return f"{kind.plural}/{subresource}" if subresource else kind.plural
