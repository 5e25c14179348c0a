"""The output of the demo: headings, commands, what they print, and what was checked."""

import shlex

from rich.console import Console
from rich.text import Text


class Teller:
    """Prints the tutorial on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps = 0

    def step(self, title: str, *why: str) -> None:
        """Print the number and title of the next step, and its explanation."""
        self._steps += 1
        self._console.print(Text(f"\n{self._steps}. {title}", style="bold cyan"))
        for line in why:
            self.say(line)

    def say(self, text: str) -> None:
        """Print a sentence."""
        self._console.print(Text(f"   {text}"), soft_wrap=True)

    def typed(self, argv: tuple[str, ...], stdin: str) -> None:
        """Print a command as a person would type it."""
        command = shlex.join(argv)
        self._console.print(
            Text(f"   $ {command}{' <<EOF' * bool(stdin)}", style="bold"), soft_wrap=True
        )
        if stdin:
            self.printed(f"{stdin}EOF")

    def printed(self, text: str) -> None:
        """Print the output of a command."""
        for line in text.rstrip().splitlines():
            self._console.print(Text(f"   {line}", style="dim"), soft_wrap=True)

    def saw(self, text: str) -> None:
        """Print what was checked and found true."""
        self._console.print(Text(f"   ✓ {text}", style="green"), soft_wrap=True)
