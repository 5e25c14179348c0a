"""Building a program with Go from the module proxy."""

import shutil
import subprocess
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from deploy.local.errors import NotObtained
from deploy.local.programs import Build, Program
from deploy.local.progress import Progress

_TICK: Final = timedelta(seconds=1)
_SHOWN_CHARACTERS: Final = 500


def build(
    program: Program, *, folder: Path, environment: Mapping[str, str], progress: Progress
) -> Path:
    """Build the program in the folder and return its path. Raises NotObtained."""
    go = shutil.which("go", path=environment.get("PATH"))
    if go is None:
        raise NotObtained("there is no `go` on the PATH")
    target = folder / program.name
    recipe = program.build
    # A person's own flags or workspace are for other modules (-mod=vendor would fail here).
    settings = {**environment, "GOBIN": str(folder), "GOFLAGS": "", "GOWORK": "off"}
    title = f"building {program.name} {program.version} with Go (takes minutes, once a machine)"
    if recipe.recipe is None:
        command = [go, "install", "-trimpath", "-ldflags", recipe.flags]
        command.append(f"{recipe.package}@{recipe.version}")
        _run(command, cwd=folder, settings=settings, title=title, progress=progress)
    else:
        sources = shutil.copytree(recipe.recipe, folder / "recipe")
        _run(
            _build_command(go, recipe, target),
            cwd=sources,
            settings=settings,
            title=title,
            progress=progress,
        )
    return target


def _build_command(go: str, recipe: Build, target: Path) -> list[str]:
    flags = ["-mod=readonly", "-trimpath", "-ldflags", recipe.flags, "-o", str(target)]
    return [go, "build", *flags, recipe.package]


def _run(
    command: list[str], *, cwd: Path, settings: Mapping[str, str], title: str, progress: Progress
) -> None:
    log = cwd / "go.log"
    with (
        progress.task(title) as advance,
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
