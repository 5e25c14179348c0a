"""kubectl commands for a member that never run against another cluster."""

import shlex
from collections.abc import Mapping
from functools import cache, partial
from typing import Final

import click

from hub import HubError
from hub.kubeconfig import contexts
from starter.explain.troubles import OnMember
from starter.targets import Target

ALL: Final = "*"
_MEMBER: Final = "{member}"


class MemberContexts(click.ParamType[Mapping[str, str]]):
    """Maps members to contexts of the kubeconfig: `member1=eu,*=prod-{member}`."""

    name = "contexts"

    def convert(
        self,
        value: str | Mapping[str, str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Mapping[str, str]:
        """Parse the mapping; an invalid one is a usage error."""
        if not isinstance(value, str):
            return value
        pairs = [part.partition("=") for part in value.split(",") if part.strip()]
        for member, _, context in pairs:
            if not (member.strip() and context.strip()):
                self.fail(
                    f"{value!r} is invalid; write MEMBER=CONTEXT,… or *=CONTEXT-OF-{_MEMBER}",
                    param,
                    ctx,
                )
            if member.strip() == ALL and _MEMBER not in context:
                self.fail(
                    f"{context!r} is the same for all members; write {_MEMBER} in it", param, ctx
                )
        return {member.strip(): context.strip() for member, _, context in pairs}


def reach(target: Target, named: Mapping[str, str]) -> OnMember:
    """Return a function that writes kubectl commands for a member.

    They use the local fleet's kubeconfig or the member's context. If neither is known, the command
    has a placeholder that a shell refuses to run.
    """
    contexts_of_target = cache(partial(_contexts, target))
    kubeconfig = f" --kubeconfig {shlex.quote(str(target.kubeconfig))}" if target.kubeconfig else ""

    def on_member(cluster: str, arguments: str) -> str:
        path = target.fleet.kubeconfig(cluster) if target.fleet else None
        if path and path.exists():
            return f"kubectl --kubeconfig {path} {arguments}"
        context = named.get(cluster) or named.get(ALL, "").replace(_MEMBER, cluster)
        if context or cluster in contexts_of_target():
            return f"kubectl{kubeconfig} --context {shlex.quote(context or cluster)} {arguments}"
        return f"kubectl --context <context of {cluster}> {arguments}"

    return on_member


def _contexts(target: Target) -> list[str]:
    try:
        return contexts(target.kubeconfig)
    except HubError:
        return []
