"""Asking for confirmation on the terminal."""

import sys

import click

from starter.failures import ExitCode, Failure

yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")


def ask(question: str, *, yes: bool) -> None:
    """Return if the person agrees; raise Failure if they do not, or if there is no terminal."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure(
            f"{question} Cannot ask without a terminal",
            advice="add --yes to confirm; nothing was changed",
            exit_code=ExitCode.USAGE,
        )
    if not click.confirm(question, err=True):
        raise Failure("cancelled; nothing was changed")
