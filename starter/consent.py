"""Asking the person at the terminal before something is done."""

import sys

import click

from starter.failures import ExitCode, Failure

yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


def ask(question: str, *, yes: bool) -> None:
    """Return if the person agrees; raise Failure if not, or if nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure(
            f"{question} There is no terminal to ask on",
            advice="add --yes if that is what you want; nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    if not click.confirm(question, err=True):
        raise Failure("you said no; nothing was changed")
