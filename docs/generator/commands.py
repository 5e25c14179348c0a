"""A page for each `fleetgate` command, generated from the commands themselves."""

from collections.abc import Iterator

import click

from docs.generator.markdown import Pages, code, literal, navigation, page, table
from starter.cli import fleetgate

_EXIT_CODES = (
    ("0", "success"),
    ("1", "failure: the message says why and what to do"),
    ("2", "usage error: a flag, an argument or a kubeconfig"),
    ("3", "not found"),
    ("4", "an approval is open; like 5 and 6, only with `run watch --until gate`"),
    ("5", "the run is stopped, or planned but not started"),
    ("6", "the run is stuck"),
    ("7", "`run watch --timeout` expired before the run ended"),
    ("130", "interrupted with Ctrl-C"),
)


def pages() -> Pages:
    """Return one page per command, and one that lists them."""
    context = click.Context(fleetgate, info_name="fleetgate")
    made = {
        f"commands/{name}.md": _page(command, _below(context, command, name))
        for name, command in _subcommands(fleetgate, context)
    }
    return {"commands/index.md": _index(context), **made}


def _index(context: click.Context) -> str:
    commands = list(_subcommands(fleetgate, context))
    rows = [(f"[fleetgate {name}]({name}.md)", _summary(command)) for name, command in commands]
    return page(
        "Commands",
        _prose(fleetgate.help or ""),
        "It is also installed as `kubectl-fleetgate`, so `kubectl fleetgate …` does the same.",
        table(("command", "what it does"), rows),
        "Every command has `--help`, with examples. These options go before the command:",
        _parameters(fleetgate, context),
        "## Exit codes",
        table(("code", "meaning"), _EXIT_CODES),
        navigation(*(name for name, _ in commands)),
    )


def _page(command: click.Command, context: click.Context) -> str:
    return page(context.command_path, *_described(command, context))


def _described(command: click.Command, context: click.Context) -> Iterator[str]:
    """Yield the description of a command; for a group also of its commands, one section each."""
    yield _prose(command.help or "")
    if not isinstance(command, click.Group):
        yield code(" ".join([context.command_path, *command.collect_usage_pieces(context)]))
    yield _parameters(command, context)
    yield _examples(command)
    if isinstance(command, click.Group):
        for name, each in _subcommands(command, context):
            below = _below(context, each, name)
            yield f"## {below.command_path}"
            yield from _described(each, below)


def _below(context: click.Context, command: click.Command, name: str) -> click.Context:
    return click.Context(command, info_name=name, parent=context)


def _subcommands(group: click.Group, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is not None and not command.hidden:
            yield name, command


def _summary(command: click.Command) -> str:
    return (command.help or "").strip().partition("\n\n")[0].replace("\n", " ")


def _prose(text: str) -> str:
    return "\n\n".join(
        " ".join(part.split()) for part in text.replace("\b\n", "").split("\n\n") if part.strip()
    )


def _parameters(command: click.Command, context: click.Context) -> str:
    # Leaves out --help, which every command has, and arguments, which the usage and the text cover.
    options = (each for each in command.params if isinstance(each, click.Option))
    records = filter(None, (option.get_help_record(context) for option in options))
    rows = [(literal(flags), " ".join(text.split())) for flags, text in records]
    return table(("option", "what it does"), rows)


def _examples(command: click.Command) -> str:
    _, found, typed = (command.epilog or "").partition(":\n")
    if not found:
        return ""
    lines = [line.removeprefix("  ") for line in typed.splitlines()]
    return f"Examples:\n\n{code(chr(10).join(lines), 'sh')}"
