"""How long a command waits for what it asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import update_wrapper
from typing import Final

import click

from planning import durations

DEFAULT: Final = "5m"
"""Longer than most clusters take to get ready; as long as one takes before it counts as stuck."""


@dataclass(frozen=True, slots=True)
class Patience:
    """What `--no-wait` and `--timeout` say."""

    wait: bool
    timeout: timedelta


class Duration(click.ParamType[timedelta]):
    """A length of time as Go and Kubernetes write it."""

    name = "duration"

    def convert(
        self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Read it; wrong usage if it is none."""
        if isinstance(value, timedelta):
            return value
        try:
            return durations.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def wait_options(command: Callable[..., object]) -> Callable[..., object]:
    """Give a command `--no-wait` and `--timeout`; it gets a `patience`."""

    def with_patience(*args: object, wait: bool, timeout: timedelta, **rest: object) -> object:
        return command(*args, patience=Patience(wait, timeout), **rest)

    options = (
        click.option(
            "--wait/--no-wait",
            default=True,
            show_default=True,
            help="Wait for what comes of it, and show that.",
        ),
        click.option(
            "--timeout",
            type=Duration(),
            metavar="DURATION",
            default=DEFAULT,
            show_default=True,
            help="How long to wait, such as 90s or 10m; then exit code 1.",
        ),
    )
    wrapped = update_wrapper(with_patience, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped
