"""How long a command waits for the result of its request."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import update_wrapper
from typing import Final

import click

from planning import durations

DEFAULT: Final = "5m"
"""Longer than most clusters take to update; the same as the default limit for a stuck cluster."""


@dataclass(frozen=True, slots=True)
class Patience:
    """The values of `--no-wait` and `--timeout`."""

    wait: bool
    timeout: timedelta


class Duration(click.ParamType[timedelta]):
    """A duration as Go and Kubernetes write it."""

    name = "duration"

    def convert(
        self, value: str | timedelta, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        """Parse the duration; an invalid one is a usage error."""
        if isinstance(value, timedelta):
            return value
        try:
            return durations.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def wait_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add `--no-wait` and `--timeout` to a command, which gets them as `patience`."""

    def with_patience(*args: object, wait: bool, timeout: timedelta, **rest: object) -> object:
        return command(*args, patience=Patience(wait, timeout), **rest)

    options = (
        click.option(
            "--wait/--no-wait",
            default=True,
            show_default=True,
            help="Wait for the result and print it.",
        ),
        click.option(
            "--timeout",
            type=Duration(),
            metavar="DURATION",
            default=DEFAULT,
            show_default=True,
            help="How long to wait, such as 90s or 10m, before giving up with exit code 1.",
        ),
    )
    wrapped = update_wrapper(with_patience, command)
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped
