"""Check of the ServiceAccounts that ship with fleetgate: missing rights and excessive ones."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

from api.kinds import Kind
from deploy.local import manifests
from hub import Json
from starter import words
from starter.doctor import reviews
from starter.doctor.findings import Finding, ok, problem, unknown, warning
from starter.doctor.reviews import Account, Deed
from starter.doctor.setup import HOME, Setup

FILE: Final = "hub-side.yaml"
_SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts", namespaced=True)
_EVERYTHING: Final = Deed("*", "*", "*")
_SECRETS: Final = Deed("list", "", "secrets")
_AT_ONCE: Final = 16
"""Reviews in flight at a time: a few hundred then take about a second, without crowding out other
clients of the API server."""


@dataclass(frozen=True, slots=True)
class Grant:
    """The rights that one role grants to one ServiceAccount."""

    role: str
    deeds: tuple[Deed, ...]


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
    async def may(deed: Deed) -> bool:
        async with turns:
            return await reviews.may(setup.hub, account, deed)

    asked = [(grant.role, deed) for grant in grants for deed in grant.deeds]
    answers = await asyncio.gather(
        *(may(deed) for _, deed in asked), may(_EVERYTHING), may(_SECRETS)
    )
    *allowed, everything, secrets = answers
    missing: dict[str, list[Deed]] = {}
    for (role, deed), granted in zip(asked, allowed, strict=True):
        if not granted:
            missing.setdefault(role, []).append(deed)
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


def _lacks(missing: Mapping[str, Sequence[Deed]]) -> str:
    roles = [f"{role} ({words.named(list(map(str, deeds)))})" for role, deeds in missing.items()]
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
                grant = Grant(role["metadata"]["name"], tuple(_deeds(role, namespace)))
                found.setdefault(account, []).append(grant)
    return found


def _moved(namespace: str, home: str) -> str:
    """Return the namespace; the file's default one stands for `home`."""
    return home if namespace == HOME else namespace


def _deeds(role: Json, namespace: str) -> Iterator[Deed]:
    for rule in role["rules"]:
        groups, resources = rule.get("apiGroups", []), rule.get("resources", [])
        if "*" in groups or "*" in resources:
            continue  # operators narrow these: the content to place, and the status written back
        for group, resource, verb in product(groups, resources, rule["verbs"]):
            for name in rule.get("resourceNames", [""]):
                yield Deed(verb, group, resource, namespace, name)
