"""Building a program with Go from the module proxy."""

import shutil
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from deploy.local.errors import NotObtained
from deploy.local.programs import Build, Program
from deploy.local.progress import Advance, ProgressDisplay

_TICK: Final = timedelta(seconds=1)
_SHOWN_CHARACTERS: Final = 500


def build(
    program: Program, *, folder: Path, environment: Mapping[str, str], progress: ProgressDisplay
) -> Path:
    """Build the program in the folder and return its path. Raises NotObtained."""
    go = shutil.which("go", path=environment.get("PATH"))
    if go is None:
        raise NotObtained("`go` is not on the PATH")
    target = folder / program.name
    # The user's own flags or workspace are meant for other modules (-mod=vendor would fail here).
    settings = {**environment, "GOBIN": str(folder), "GOFLAGS": "", "GOWORK": "off"}
    sources = folder / "sources"
    if program.build.recipe is None:
        sources.mkdir()
    else:
        # A copy, so that Go cannot change the files of this package.
        shutil.copytree(program.build.recipe, sources)
    with progress.task(f"building {program.name} {program.version} with Go") as advance:
        command = [go, *_arguments(program.build, target)]
        _run(command, cwd=sources, settings=settings, advance=advance)
    return target


def _arguments(recipe: Build, target: Path) -> list[str]:
    flags = ["-trimpath", "-ldflags", recipe.flags]
    if recipe.recipe is None:
        return ["install", *flags, f"{recipe.package}@{recipe.version}"]
    return ["build", "-mod=readonly", *flags, "-o", str(target), recipe.package]


def _run(command: list[str], *, cwd: Path, settings: Mapping[str, str], advance: Advance) -> None:
    log = cwd / "go.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, cwd=cwd, env=settings, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        ) as process,
    ):
        try:
            while _still_runs(process):
                advance(0, 0)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        said = log.read_text(encoding="utf-8", errors="replace").strip()
        raise NotObtained(f"`go {command[1]}` failed: …{said[-_SHOWN_CHARACTERS:]}")


def _still_runs(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(timeout=_TICK.total_seconds())
    except subprocess.TimeoutExpired:
        return True
    return False
