"""URL paths of the API server's resources."""

from urllib.parse import quote

from api.kinds import Kind


def collection(kind: Kind, *, namespace: str = "") -> str:
    """Path of all objects of a kind, in one namespace or (when empty) everywhere."""
    if kind.namespaced and namespace:
        return f"{kind.path}/namespaces/{quote(namespace, safe='')}/{kind.plural}"
    return f"{kind.path}/{kind.plural}"


def item(kind: Kind, name: str, *, namespace: str = "", subresource: str = "") -> str:
    """Path of one object. A namespace is ignored for a cluster-scoped kind."""
    if not name:
        raise ValueError(f"a {kind} needs a name")
    if kind.namespaced and not namespace:
        raise ValueError(f"{kind} {name!r} needs a namespace")
    path = f"{collection(kind, namespace=namespace)}/{quote(name, safe='')}"
    return f"{path}/{subresource}" if subresource else path


def resource(kind: Kind, subresource: str = "") -> str:
    """What a request touches, as RBAC writes it: `deployments/status`."""
    return f"{kind.plural}/{subresource}" if subresource else kind.plural
