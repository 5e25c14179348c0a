"""Draws the terminal in README: `python -m tests.docs.recording FOLDER`.

Types the commands below on a fleet in the folder, with colours, and writes what they print to
`docs/images/terminal.svg`. Use it after changing one of these commands. The folder keeps the
fleet, so that the next recording is fast; `fleetgate local down --purge` there removes it.
"""

import re
import sys
from io import StringIO
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

from tests.docs.desk import Desk
from tests.docs.pages import FOLDER
from tests.docs.shell import Shell

IMAGE: Final = FOLDER / "images" / "terminal.svg"
_COLUMNS: Final = 92
_FONTS: Final = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""The web fonts of Rich's images; without them, a page that shows the image loads nothing else."""
_BEFORE: Final = (
    f"export FORCE_COLOR=1 COLUMNS={_COLUMNS}",
    "kubectl apply -f docs/examples/shop.yaml",
    "kubectl wait clusterresourcesnapshot shop-0-snapshot --for=create --timeout=60s",
    "fleetgate run create v1 --placement shop --strategy staging-first --state Run",
    "kubectl wait careq v1-before-canary --for=create --timeout=90s",
    "fleetgate approve v1 canary",
    "kubectl wait csur v1 --for=condition=Succeeded --timeout=90s",
    "kubectl set image deployment/web -n shop web=registry.example/web:2",
    "kubectl wait clusterresourcesnapshot shop-1-snapshot --for=create --timeout=60s",
)
"""What has happened on the fleet before the recording begins."""
SHOWN: Final = (
    "fleetgate plan shop staging-first",
    "fleetgate run create v2 --placement shop --strategy staging-first --state Run",
    "fleetgate run explain v2",
    "fleetgate approve v2 canary --comment 'no errors in staging'",
    "fleetgate run list",
)
_WAITS: Final = {
    "fleetgate run explain v2": "kubectl wait careq v2-before-canary --for=create --timeout=90s",
    "fleetgate run list": "kubectl wait csur v2 --for=condition=Succeeded --timeout=90s",
}
"""What a person would have waited for before typing the command."""


def draw(typed: list[tuple[str, list[str]]]) -> str:
    """Return an SVG image of commands with the lines that they printed, colours included."""
    console = Console(record=True, width=_COLUMNS, file=StringIO(), highlight=False)
    for command, lines in typed:
        console.print(Text.assemble(("$ ", "bold green"), (command, "bold")))
        for line in lines:
            console.print(Text.from_ansi(line), overflow="fold")
        console.print()
    return _FONTS.sub("", console.export_svg(title="fleetgate"))


def main(folder: Path) -> None:
    """Record the session and write the image."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = Desk(folder.resolve())
    shell = desk.sit_down()
    try:
        for command in _BEFORE:
            _type(shell, command)
        IMAGE.write_text(draw([(command, _record(shell, command)) for command in SHOWN]))
    finally:
        shell.close()
        desk.clean_up()


def _record(shell: Shell, command: str) -> list[str]:
    if command in _WAITS:
        _type(shell, _WAITS[command])
    return _type(shell, command)


def _type(shell: Shell, command: str) -> list[str]:
    printed = shell.type(command)
    if printed.code != 0:
        raise SystemExit("\n".join([f"$ {command}", *printed.lines]))
    return printed.lines


if __name__ == "__main__":
    main(Path(sys.argv[1]))
