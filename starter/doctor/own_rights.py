"""Check of the user's own rights."""

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
    """A right on the hub that a command needs, beyond the reads that all commands need."""

    command: str
    verb: str
    kind: Callable[[Scope], Kind]
    subresource: str = ""

    def deed(self, scope: Scope, namespace: str) -> Deed:
        """Return the right for one of the two scopes."""
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
"""In the order in which a rollout needs them."""
_INSTALL: Final = Ability("crds --apply", "patch", lambda _: CUSTOM_RESOURCE_DEFINITION)


async def of_user(setup: Setup) -> Sequence[Finding]:
    """Check what the kubeconfig's user may do, in each scope."""
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
    says = f"may {', '.join(able)}" if able else "has no rights"
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
        advice="ask the hub's administrators to bind a role of deploy/rbac to you, or use -n with "
        "a namespace that you have access to",
        commands=[setup.command(check)],
    )
