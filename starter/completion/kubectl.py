"""`kubectl_complete-fleetgate`: what kubectl asks to complete `kubectl fleetgate …`.

kubectl 1.26 or newer runs it with the words that were typed, the unfinished one last, and reads
one completion a line, then a number that says what the shell may add of its own.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Final

import click
from click.shell_completion import CompletionItem, ShellComplete

from starter.cli import fleetgate
from starter.completion.command import VARIABLE

FILES: Final = 0
NOTHING_ELSE: Final = 4
"""Directives of kubectl's completion (cobra): let the shell complete file names, or not."""


def main() -> None:
    """Print what the last of the words that were typed may become."""
    for line in lines(sys.argv[1:]):
        click.echo(line)


def lines(words: Sequence[str]) -> Iterator[str]:
    """What kubectl reads: completions with what they mean, then a directive."""
    *before, incomplete = words or [""]
    shell = ShellComplete(fleetgate, {}, "fleetgate", VARIABLE)
    found = shell.get_completions(before, incomplete)
    yield from (_line(each) for each in found if each.type == "plain")
    files = any(each.type in {"file", "dir"} for each in found)
    yield f":{FILES if files else NOTHING_ELSE}"


def _line(item: CompletionItem[str]) -> str:
    return f"{item.value}\t{item.help}" if item.help else item.value
