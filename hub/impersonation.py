"""Acting as somebody else, where a kubeconfig says so with `as`, `as-groups` and the like.

kubectl does, so it has to be the same here: who types is judged, and written down, as that user.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from hub.errors import BadConfiguration

Headers = tuple[tuple[str, str], ...]


def headers(user: Mapping[str, Any]) -> Headers:
    """What to send with each request; a group each has a header of the same name.

    Raises BadConfiguration when groups are named but no user.
    """
    found = tuple(_headers(user))
    if found and not user.get("as"):
        raise BadConfiguration("the kubeconfig's user has as-groups, as-uid or the like but no as")
    return found


def _headers(user: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if name := user.get("as"):
        yield "Impersonate-User", str(name)
    if uid := user.get("as-uid"):
        yield "Impersonate-Uid", str(uid)
    for group in user.get("as-groups") or []:
        yield "Impersonate-Group", str(group)
    for key, values in (user.get("as-user-extra") or {}).items():
        for value in values:
            yield f"Impersonate-Extra-{quote(key, safe='')}", str(value)
