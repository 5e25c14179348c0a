"""Checks of rights: the user's own, and those of the ServiceAccounts that ship with fleetgate."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from api.kinds import CUSTOM_RESOURCE_DEFINITION, Kind, Scope
from deploy.installing import manifests
from hub import Hub, Json
from starter import people, words
from starter.doctor.findings import HOME, Finding, Setup, ok, problem, unknown, warning

_GROUP: Final = "authorization.k8s.io"
_SELF: Final = Kind(
    _GROUP, "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews", namespaced=False
)
_OTHER: Final = Kind(_GROUP, "v1", "SubjectAccessReview", "subjectaccessreviews", namespaced=False)


@dataclass(frozen=True, slots=True)
class Right:
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


async def i_may(hub: Hub, right: Right) -> bool:
    """Return whether the kubeconfig's user has the right; every user may ask that."""
    return await _is_allowed(hub, _SELF, {"resourceAttributes": right.attributes})


async def account_may(hub: Hub, account: Account, right: Right) -> bool:
    """Return whether a ServiceAccount has the right. Raises Forbidden if the user may not ask."""
    return await _is_allowed(
        hub, _OTHER, {"resourceAttributes": right.attributes} | account.subject
    )


async def _is_allowed(hub: Hub, kind: Kind, spec: Json) -> bool:
    answer = await hub.create(kind, {"metadata": {}, "spec": spec})
    allowed: bool = answer["status"]["allowed"]
    return allowed


# -- the rights of the user ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ability:
    """A right on the hub that a command needs, beyond the reads that all commands need."""

    command: str
    verb: str
    kind: Callable[[Scope], Kind]
    subresource: str = ""

    def right(self, scope: Scope, namespace: str) -> Right:
        """Return the right for one of the two scopes."""
        kind = self.kind(scope)
        resource = f"{kind.plural}/{self.subresource}" if self.subresource else kind.plural
        return Right(self.verb, kind.group, resource, namespace if kind.namespaced else "")


_SEE: Final = Ability("see runs", "list", lambda scope: scope.run)
ABILITIES: Final = (
    _SEE,
    Ability("explain them", "list", lambda scope: scope.binding),
    Ability("snapshot", "list", lambda scope: scope.resource_snapshot),
    Ability("run create", "create", lambda scope: scope.run),
    Ability("run start and stop", "patch", lambda scope: scope.run),
    Ability("approve", "patch", lambda scope: scope.approval, "status"),
    Ability("run delete", "delete", lambda scope: scope.run),
    Ability("write strategies", "create", lambda scope: scope.strategy),
)
"""In the order in which a rollout needs them."""
_INSTALL: Final = Ability("crds --apply", "patch", lambda _: CUSTOM_RESOURCE_DEFINITION)


async def of_user(setup: Setup) -> Sequence[Finding]:
    """Check what the kubeconfig's user may do, in each scope."""
    user = await people.user_of(setup.hub) or "you"
    return await asyncio.gather(*(_in_scope(setup, scope, user) for scope in setup.scopes))


async def _in_scope(setup: Setup, scope: Scope, user: str) -> Finding:
    namespace = setup.target.namespace
    asked = ABILITIES if scope.run.namespaced else (*ABILITIES, _INSTALL)
    rights = [each.right(scope, namespace) for each in asked]
    allowed = await asyncio.gather(*(i_may(setup.hub, each) for each in rights))
    where = f"namespace {namespace}" if namespace else "all namespaces"
    about = f"rights of {user} for {scope.run.plural}"
    about += f" in {where}" if scope.run.namespaced else ""
    able = [each.command for each, may in zip(asked, allowed, strict=True) if may]
    unable = {
        each: right for each, right, may in zip(asked, rights, allowed, strict=True) if not may
    }
    says = f"may {', '.join(able)}" if able else "has no rights"
    lacks = ", ".join(f"{each.command} ({right})" for each, right in unable.items())
    says += f"; may not {lacks}" if lacks else ""
    if _SEE not in unable:
        return ok(about, says)
    kind = scope.run
    check = f"kubectl auth can-i list {kind.plural}.{kind.group}"
    check += f" -n {namespace}" if namespace else " -A" * kind.namespaced
    return warning(
        about,
        says,
        advice="ask the hub's administrators to bind a role of deploy/rbac to you, or use -n with "
        "a namespace that you have access to",
        commands=[setup.command(check)],
    )


# -- the rights of the processes -----------------------------------------------------------


FILE: Final = "hub-side.yaml"
_SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)
_EVERYTHING: Final = Right("*", "*", "*")
_SECRETS: Final = Right("list", "", "secrets")
_AT_ONCE: Final = 16
"""Reviews in flight at a time: a few hundred then take about a second, without crowding out other
clients of the API server."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights that one role grants to one ServiceAccount."""

    role: str
    rights: tuple[Right, ...]


Grants = Mapping[Account, Sequence[Grant]]


async def of_processes(setup: Setup) -> Sequence[Finding]:
    """Check that each ServiceAccount has the rights of its roles in the file, but not all."""
    grants = shipped(manifests.documents(FILE), home=setup.home)
    there = await asyncio.gather(*(_exists(setup, account) for account in grants))
    if not any(there):
        return [_nobody(setup)]
    turns = asyncio.Semaphore(_AT_ONCE)
    return await asyncio.gather(
        *(
            _look(setup, account, grants[account], turns)
            for account, exists in zip(grants, there, strict=True)
            if exists
        )
    )


def _nobody(setup: Setup) -> Finding:
    return unknown(
        "rights of fleetgate's processes",
        f"namespace {setup.home} has none of the ServiceAccounts of deploy/rbac/{FILE}: the "
        "processes use other accounts",
        advice="give each process its own ServiceAccount, or name the namespace of the accounts "
        "with --home",
        commands=[setup.command(f"kubectl apply -f deploy/rbac/{FILE}")],
    )


async def _exists(setup: Setup, account: Account) -> bool:
    found = await setup.hub.find(_SERVICE_ACCOUNT, account.name, namespace=account.namespace)
    return found is not None


async def _look(
    setup: Setup, account: Account, grants: Sequence[Grant], turns: asyncio.Semaphore
) -> Finding:
    async def may(right: Right) -> bool:
        async with turns:
            return await account_may(setup.hub, account, right)

    asked = [(grant.role, right) for grant in grants for right in grant.rights]
    answers = await asyncio.gather(
        *(may(right) for _, right in asked), may(_EVERYTHING), may(_SECRETS)
    )
    *allowed, everything, secrets = answers
    missing: dict[str, list[Right]] = {}
    for (role, right), granted in zip(asked, allowed, strict=True):
        if not granted:
            missing.setdefault(role, []).append(right)
    apply = [setup.command(f"kubectl apply -f deploy/rbac/{FILE}")]
    if missing:
        return problem(str(account), _lacks(missing), advice="grant its roles", commands=apply)
    if everything:
        return warning(
            str(account),
            "has full access to the hub, like an administrator",
            advice="bind it to its own roles only; its token gives full control of the hub",
            commands=[setup.command("kubectl get clusterrolebindings -o wide")],
        )
    more = "; it can read Secrets in every namespace" if secrets else ""
    return ok(str(account), f"has all {words.count(len(asked), 'right')} of its roles{more}")


def _lacks(missing: Mapping[str, Sequence[Right]]) -> str:
    roles = [f"{role} ({words.named(list(map(str, rights)))})" for role, rights in missing.items()]
    return f"lacks rights of its roles: {', '.join(roles)}"


def shipped(documents: Sequence[Json], *, home: str) -> Grants:
    """Return what the documents of a file grant to each ServiceAccount in them."""
    roles = {
        (each["kind"], each["metadata"]["name"]): each
        for each in documents
        if each["kind"] in {"Role", "ClusterRole"}
    }
    found: dict[Account, list[Grant]] = {}
    for binding in documents:
        if binding["kind"] not in {"RoleBinding", "ClusterRoleBinding"}:
            continue
        role = roles.get((binding["roleRef"]["kind"], binding["roleRef"]["name"]))
        namespace = _moved(binding["metadata"].get("namespace", ""), home)
        for subject in binding["subjects"]:
            if role and subject["kind"] == "ServiceAccount":
                account = Account(_moved(subject["namespace"], home), subject["name"])
                grant = Grant(role["metadata"]["name"], tuple(_rights(role, namespace)))
                found.setdefault(account, []).append(grant)
    return found


def _moved(namespace: str, home: str) -> str:
    """Return the namespace; the file's default one stands for `home`."""
    return home if namespace == HOME else namespace


def _rights(role: Json, namespace: str) -> Iterator[Right]:
    for rule in role["rules"]:
        groups, resources = rule.get("apiGroups", []), rule.get("resources", [])
        if "*" in groups or "*" in resources:
            continue  # operators narrow these: the content to place, and the status written back
        for group, resource, verb in product(groups, resources, rule["verbs"]):
            for name in rule.get("resourceNames", [""]):
                yield Right(verb, group, resource, namespace, name)
