"""Asking an API server for a user's or a ServiceAccount's rights."""

from dataclasses import dataclass
from typing import Final

from api.kinds import Kind
from hub import Hub, Json

_GROUP: Final = "authorization.k8s.io"
_SELF: Final = Kind(
    _GROUP, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
_OTHER: Final = Kind(_GROUP, "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False)


@dataclass(frozen=True, slots=True)
class Deed:
    """A right: one verb on one resource."""

    verb: str
    group: str
    resource: str
    """Plural, with the subresource: `approvalrequests/status`."""
    namespace: str = ""
    """Empty for all namespaces, or for a cluster-scoped kind."""
    name: str = ""

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        which = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.resource}{'.' * bool(self.group)}{self.group}{which}{where}"

    @property
    def attributes(self) -> Json:
        """The resource attributes of an access review."""
        resource, _, subresource = self.resource.partition("/")
        asked = {
            "verb": self.verb,
            "group": self.group,
            "resource": resource,
            "subresource": subresource,
            "namespace": self.namespace,
            "name": self.name,
        }
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, slots=True)
class Account:
    """A ServiceAccount."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"ServiceAccount {self.namespace}/{self.name}"

    @property
    def subject(self) -> Json:
        """The user and groups of an access review."""
        return {
            "user": f"system:serviceaccount:{self.namespace}:{self.name}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{self.namespace}",
                "system:authenticated",
            ],
        }


async def i_may(hub: Hub, deed: Deed) -> bool:
    """Return whether the kubeconfig's user has the right; every user may ask that."""
    return await _ask(hub, _SELF, {"resourceAttributes": deed.attributes})


async def may(hub: Hub, account: Account, deed: Deed) -> bool:
    """Return whether a ServiceAccount has the right. Raises Forbidden if the user may not ask."""
    return await _ask(hub, _OTHER, {"resourceAttributes": deed.attributes} | account.subject)


async def _ask(hub: Hub, kind: Kind, spec: Json) -> bool:
    answer = await hub.create(kind, {"metadata": {}, "spec": spec})
    allowed: bool = answer["status"]["allowed"]
    return allowed
