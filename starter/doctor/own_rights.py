"""Check of what the person who types may do."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from api.kinds import CUSTOM_RESOURCE_DEFINITION, Kind, Scope
from starter import people
from starter.doctor import reviews
from starter.doctor.findings import Finding, ok, warning
from starter.doctor.reviews import Deed
from starter.doctor.setup import Setup


@dataclass(frozen=True, slots=True)
class Ability:
    """What a command needs of the hub, beside what all commands read."""

    command: str
    verb: str
    kind: Callable[[Scope], Kind]
    subresource: str = ""

    def deed(self, scope: Scope, namespace: str) -> Deed:
        """What is done to the hub, for the one scope or the other."""
        kind = self.kind(scope)
        resource = f"{kind.plural}/{self.subresource}" if self.subresource else kind.plural
        return Deed(self.verb, kind.group, resource, namespace if kind.namespaced else "")


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
"""In the order in which people need them."""
_INSTALL: Final = Ability("crds --apply", "patch", lambda _: CUSTOM_RESOURCE_DEFINITION)


async def of_user(setup: Setup) -> Sequence[Finding]:
    """What the kubeconfig's user may do, for each scope."""
    user = await people.user_of(setup.hub) or "you"
    return await asyncio.gather(*(_in_scope(setup, scope, user) for scope in setup.scopes))


async def _in_scope(setup: Setup, scope: Scope, user: str) -> Finding:
    namespace = setup.target.namespace
    asked = ABILITIES if scope.run.namespaced else (*ABILITIES, _INSTALL)
    deeds = [each.deed(scope, namespace) for each in asked]
    allowed = await asyncio.gather(*(reviews.i_may(setup.hub, each) for each in deeds))
    where = f"namespace {namespace}" if namespace else "all namespaces"
    about = f"rights of {user} for {scope.run.plural}"
    about += f" in {where}" if scope.run.namespaced else ""
    able = [each.command for each, may in zip(asked, allowed, strict=True) if may]
    unable = {each: deed for each, deed, may in zip(asked, deeds, allowed, strict=True) if not may}
    says = f"may {', '.join(able)}" if able else "may do nothing"
    lacks = ", ".join(f"{each.command} ({deed})" for each, deed in unable.items())
    says += f"; may not {lacks}" if lacks else ""
    if _SEE not in unable:
        return ok(about, says)
    kind = scope.run
    check = f"kubectl auth can-i list {kind.plural}.{kind.group}"
    check += f" -n {namespace}" if namespace else " -A" * kind.namespaced
    return warning(
        about,
        says,
        advice="ask whoever runs the hub to bind a role of deploy/rbac to you, or name with -n the "
        "namespace that you may work in",
        commands=[setup.command(check)],
    )
