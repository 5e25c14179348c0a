"""Options that commands share: hub, namespace, output, what may be placed, and confirmation."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import update_wrapper
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem

from hub.impersonation import NOT_IMPERSONATED, Impersonated
from planning.placements.selecting import SelectionRules
from starter import flags
from starter.failures import CommandFailure, ExitCode
from starter.targets import Output, Target, found


def _hub(
    kubeconfig: Path | None,
    context: str | None,
    as_user: str | None,
    as_groups: tuple[str, ...],
    request_timeout: timedelta | None,
    *,
    namespace: str = "",
) -> Target:
    """Return the hub that the flags select, for the user that they name."""
    if as_groups and not as_user:
        raise click.UsageError("--as-group needs a user: add --as USER")
    target = found(kubeconfig, context, namespace)
    if target.kubeconfig != kubeconfig:
        text = f"using the local fleet: {target.kubeconfig} (use another hub with --kubeconfig)"
        click.echo(text, err=True)
    if request_timeout is not None:
        target = replace(target, request_timeout=request_timeout)
    return replace(target, acting_as=Impersonated(as_user or "", as_groups))


def target_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the flags that all commands share to a command, which gets them as `target`."""

    def with_target(
        *args: object,
        kubeconfig: Path | None,
        context: str | None,
        namespace: str,
        as_user: str | None,
        as_groups: tuple[str, ...],
        request_timeout: timedelta | None,
        output: str = Output.TABLE,
        **rest: object,
    ) -> object:
        form, _, template = output.partition("=")
        hub = _hub(kubeconfig, context, as_user, as_groups, request_timeout, namespace=namespace)
        target = replace(hub, output=Output(form), template=template)
        return command(*args, target=target, **rest)

    return _with_options(update_wrapper(with_target, command), flags.of_command())


def member_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the flags that name the hub and a member cluster.

    The command gets the hub as `target` and the cluster as `member`, None if neither a context nor
    a kubeconfig is given for it. The user that --as names acts on the hub only.
    """

    def with_both(
        *args: object,
        kubeconfig: Path | None,
        context: str | None,
        member_kubeconfig: Path | None,
        member_context: str | None,
        as_user: str | None,
        as_groups: tuple[str, ...],
        request_timeout: timedelta | None,
        **rest: object,
    ) -> object:
        target = _hub(kubeconfig, context, as_user, as_groups, request_timeout)
        member = replace(
            target,
            kubeconfig=member_kubeconfig or target.kubeconfig,
            context=member_context,
            acting_as=NOT_IMPERSONATED,
        )
        given = member_kubeconfig or member_context
        return command(*args, target=target, member=member if given else None, **rest)

    return _with_options(update_wrapper(with_both, command), flags.of_member_command())


def _with_options(
    command: Callable[..., object], options: Sequence[click.Option]
) -> Callable[..., object]:
    # As click's own decorators do, which add the last one first.
    command.__dict__.setdefault("__click_params__", []).extend(reversed(options))
    return command


# -- output --------------------------------------------------------------------------------


class OutputFormat(click.ParamType[str]):
    """One of the output formats; two of them take a template after `=`."""

    name = "format"
    _templates: Final = (Output.JSONPATH, Output.CUSTOM_COLUMNS)

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the formats for the help."""
        return "|".join(self._choices())

    def _choices(self) -> list[str]:
        return [f"{each}=…" if each in self._templates else str(each) for each in Output]

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check the format and its template; a wrong one is a usage error."""
        form, _, template = value.partition("=")
        if form not in list(Output) or (template and form not in self._templates):
            self.fail(f"{value!r} is not one of {', '.join(self._choices())}", param, ctx)
        if form in self._templates:
            self._check(Output(form), template, param, ctx)
        return value

    def _check(
        self,
        form: Output,
        template: str,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> None:
        if not template:
            self.fail(f"{form} needs a template: -o {_TEMPLATE_EXAMPLES[form]}", param, ctx)
        from starter import jsonpaths  # here, because few commands are typed with a template

        parse = jsonpaths.template if form is Output.JSONPATH else jsonpaths.custom_columns
        try:
            parse(template)
        except jsonpaths.TemplateError as error:
            self.fail(f"{form}: {error}", param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """Complete the names of the formats."""
        values = (f"{each}=" if each in self._templates else str(each) for each in Output)
        return [CompletionItem(each) for each in values if each.startswith(incomplete)]


_TEMPLATE_EXAMPLES: Final = {
    Output.JSONPATH: "jsonpath='{.metadata.name}'",
    Output.CUSTOM_COLUMNS: "custom-columns=NAME:.metadata.name",
}

output_option = click.option(
    "-o",
    "--output",
    type=OutputFormat(),
    default=str(Output.TABLE),
    show_default=True,
    help="Output format; jsonpath and custom-columns take kubectl's templates.",
)


@dataclass(frozen=True, slots=True)
class Listing:
    """The values of `--selector`, `--no-headers` and `--watch`."""

    labels: str
    headers: bool
    watch: bool = False


def list_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the options of kubectl's lists to a command, which gets them as `listed`."""

    def with_listing(
        *args: object, selector: str, no_headers: bool, watch: bool, **rest: object
    ) -> object:
        return command(*args, listed=Listing(selector, not no_headers, watch), **rest)

    options = (
        click.option(
            "-l",
            "--selector",
            default="",
            metavar="LABELS",
            help="Only objects with these labels, such as team=web,tier!=test.",
        ),
        no_headers_option,
        click.option(
            "-w", "--watch", is_flag=True, help="After the list, print what changes, until Ctrl-C."
        ),
    )
    wrapped = update_wrapper(with_listing, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


no_headers_option = click.option(
    "--no-headers", is_flag=True, help="Do not print the headings of the table."
)


# -- what may be placed --------------------------------------------------------------------


def rules_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add the worker's options for what may be placed to a command, which gets them as `rules`."""

    def with_rules(
        *args: object, skipped_namespaces: str, hub_runs_workloads: bool, **rest: object
    ) -> object:
        skipped = frozenset(filter(None, map(str.strip, skipped_namespaces.split(","))))
        return command(*args, rules=SelectionRules(skipped, hub_runs_workloads), **rest)

    options = (
        click.option(
            "--skipped-namespaces",
            metavar="NAMESPACE,…",
            envvar="FLEETGATE_SKIPPED_NAMESPACES",
            default="",
            help="Same value as for the workers  [FLEETGATE_SKIPPED_NAMESPACES; default: none].",
        ),
        click.option(
            "--hub-runs-workloads",
            is_flag=True,
            envvar="FLEETGATE_HUB_RUNS_WORKLOADS",
            help="Same value as for the workers  [FLEETGATE_HUB_RUNS_WORKLOADS; default: no].",
        ),
    )
    wrapped = update_wrapper(with_rules, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


# -- confirmation --------------------------------------------------------------------------


yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


def confirm(question: str, *, yes: bool) -> None:
    """Return if the person agrees; raise CommandFailure if not, or if there is no terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise CommandFailure(
            f"{question} Cannot ask without a terminal",
            advice="add --yes to confirm; nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    if not click.confirm(question, err=True):
        raise CommandFailure("cancelled; nothing was changed")
