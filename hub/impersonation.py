"""Impersonation of the user that a kubeconfig names with `as`, `as-groups` and so on.

As in kubectl, access is checked, and actions are recorded, for the impersonated user.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from hub.errors import BadConfiguration

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Impersonated:
    """The user that a person asks to impersonate, instead of the one that the kubeconfig names."""

    user: str = ""
    """Empty for the user that the kubeconfig names."""
    groups: tuple[str, ...] = ()

    @property
    def headers(self) -> Headers:
        """The headers for each request; empty if there is none."""
        return headers({"as": self.user, "as-groups": self.groups})


NOT_IMPERSONATED: Final = Impersonated()


def headers(user: Mapping[str, Any]) -> Headers:
    """Return the headers for each request; the header name is repeated for each group.

    Raises BadConfiguration if there are groups, a uid or extras but no user.
    """
    found = tuple(_headers(user))
    if found and not user.get("as"):
        raise BadConfiguration(
            "the kubeconfig's user sets as-groups, as-uid or as-user-extra but not as"
        )
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
