"""Asking an API server who may do what."""

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
    """Something that one may or may not do."""

    verb: str
    group: str
    resource: str
    """Plural, with the subresource: `approvalrequests/status`."""
    namespace: str = ""
    """Empty for all of them, or for a cluster-scoped kind."""
    name: str = ""

    def __str__(self) -> str:
        where = f" in namespace {self.namespace}" if self.namespace else ""
        which = f" {self.name}" if self.name else ""
        return f"{self.verb} {self.resource}{'.' * bool(self.group)}{self.group}{which}{where}"

    @property
    def attributes(self) -> Json:
        """As a review asks for it."""
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
        """As a review names it."""
        return {
            "user": f"system:serviceaccount:{self.namespace}:{self.name}",
            "groups": [
                "system:serviceaccounts",
                f"system:serviceaccounts:{self.namespace}",
                "system:authenticated",
            ],
        }


async def i_may(hub: Hub, deed: Deed) -> bool:
    """Whether the kubeconfig's user may do it; everybody may ask that."""
    return await _ask(hub, _SELF, {"resourceAttributes": deed.attributes})


async def may(hub: Hub, account: Account, deed: Deed) -> bool:
    """Whether a ServiceAccount may do it. Raises Forbidden for who may not ask."""
    return await _ask(hub, _OTHER, {"resourceAttributes": deed.attributes} | account.subject)


async def _ask(hub: Hub, kind: Kind, spec: Json) -> bool:
    answer = await hub.create(kind, {"metadata": {}, "spec": spec})
    allowed: bool = answer["status"]["allowed"]
    return allowed
