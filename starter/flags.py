"""Flags that select the hub, the user and the namespace, before or after the name of a command.

As with kubectl, `fleetgate -n team run list` is `fleetgate run list -n team`; the flag that is
closest to the end counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from starter.patience import Duration

_META: Final = "starter.flags"
"""Where click's context keeps the flags that stand before the command, for all of its groups."""


class _Flag(click.Option):
    """A flag of a command that takes the value given before the command's name."""

    def consume_value(
        self, ctx: click.Context, opts: Mapping[str, Any]
    ) -> tuple[Any, ParameterSource]:
        value, source = super().consume_value(ctx, opts)
        before = ctx.meta.get(_META, {})
        if source is ParameterSource.DEFAULT and self.name in before:
            return before[self.name], ParameterSource.COMMANDLINE
        return value, source


def _contexts(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    from starter.completion import live  # here, because every command imports this module

    return live.contexts(context, parameter, incomplete)


def _member_contexts(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    from starter.completion import live

    return live.member_contexts(context, parameter, incomplete)


def _namespaces(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem[str]]:
    from starter.completion import live

    return live.namespaces(context, parameter, incomplete)


_FLAGS: Final[tuple[tuple[tuple[str, ...], dict[str, Any]], ...]] = (
    (
        ("--kubeconfig",),
        {
            "type": click.Path(path_type=Path, dir_okay=False),
            "help": "Kubeconfig for the hub  [default: $KUBECONFIG, else the local fleet's].",
        },
    ),
    (("--context",), {"shell_complete": _contexts, "help": "Context of the kubeconfig."}),
    (
        ("-n", "--namespace"),
        {
            "default": "",
            "shell_complete": _namespaces,
            "help": "Namespace to work in; without it, the cluster-scoped kinds are used.",
        },
    ),
    (("--as", "as_user"), {"metavar": "USER", "help": "User to impersonate on the hub."}),
    (
        ("--as-group", "as_groups"),
        {
            "metavar": "GROUP",
            "multiple": True,
            "help": "Group to impersonate, together with --as; can be repeated.",
        },
    ),
    (
        ("--request-timeout",),
        {
            "type": Duration(),
            "metavar": "DURATION",
            "help": "Time limit for one request to the hub, such as 5s  [default: 30s].",
        },
    ),
)


def of_command() -> list[click.Option]:
    """Return the flags of a command that talks to the hub."""
    return [_Flag(names, **attributes) for names, attributes in _FLAGS]


def of_member_command() -> list[click.Option]:
    """Return the flags of a command that talks to the hub and to a member cluster.

    Its --context and --member-kubeconfig name the member; a --context before the command's name is
    that of the hub.
    """
    of_hub = [
        _Flag(names, **attributes)
        for names, attributes in _FLAGS
        if names[0] not in ("--context", "-n")
    ]
    return [
        click.Option(
            ("--context", "member_context"),
            shell_complete=_member_contexts,
            help="Context of the member cluster.",
        ),
        click.Option(
            ("--member-kubeconfig",),
            type=click.Path(path_type=Path, dir_okay=False),
            help="Kubeconfig for the member cluster  [default: same as for the hub].",
        ),
        _Flag(
            ("--hub-context", "context"),
            shell_complete=_contexts,
            help="Context of the hub  [default: the current context].",
        ),
        *of_hub,
    ]


def of_group(*, shown: bool) -> list[click.Option]:
    """Return the same flags for a group, which passes them on to its commands."""
    return [
        click.Option(names, **attributes, expose_value=False, hidden=not shown, callback=_pass_on)
        for names, attributes in _FLAGS
    ]


def _pass_on(context: click.Context, flag: click.Parameter, value: object) -> None:
    assert flag.name
    if context.get_parameter_source(flag.name) is ParameterSource.COMMANDLINE:
        context.meta.setdefault(_META, {})[flag.name] = value
