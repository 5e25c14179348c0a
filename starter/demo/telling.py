"""The voice of the demo: headings, commands as typed, what they print, what was seen."""

import shlex

from rich.console import Console
from rich.text import Text


class Teller:
    """Tells the tutorial on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._steps = 0

    def step(self, title: str, *why: str) -> None:
        """Begin a step: its number, title, and why one does it."""
        self._steps += 1
        self._console.print(Text(f"\n{self._steps}. {title}", style="bold cyan"))
        for line in why:
            self.say(line)

    def say(self, text: str) -> None:
        """Say a sentence."""
        self._console.print(Text(f"   {text}"), soft_wrap=True)

    def typed(self, argv: tuple[str, ...], stdin: str) -> None:
        """Show a command as it would be typed."""
        command = shlex.join(argv)
        self._console.print(
            Text(f"   $ {command}{' <<EOF' * bool(stdin)}", style="bold"), soft_wrap=True
        )
        if stdin:
            self.printed(f"{stdin}EOF")

    def printed(self, text: str) -> None:
        """Show what a command printed."""
        for line in text.rstrip().splitlines():
            self._console.print(Text(f"   {line}", style="dim"), soft_wrap=True)

    def saw(self, text: str) -> None:
        """Say what was checked and found true."""
        self._console.print(Text(f"   ✓ {text}", style="green"), soft_wrap=True)
