"""Wheel and sdist are complete, and an installation from them works in any folder."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from deploy.packaging import ROOT, rooms, version
from tests.test_architecture import imported_by

pytestmark = pytest.mark.xdist_group("distributions")

UV = shutil.which("uv") or str(ROOT / ".uv" / "bin" / "uv")


def run(*command: object, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without variables that point Python to this clone."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FLEETGATE_", "PYTHON", "VIRTUAL_ENV", "UV_PROJECT", "KUBECONFIG"))
    }
    return subprocess.run(
        [str(each) for each in command],
        cwd=folder,
        env=environment | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def build(tree: Path, target: Path, *what: str) -> None:
    done = run(sys.executable, "-m", "hatchling", "build", *what, "-d", target, folder=tree)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both distributions, built as for a release."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"fleetgate-{version()}-py3-none-any.whl"


@pytest.fixture(scope="module")
def bin_folder(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `bin` folder of an environment with the wheel; dependencies come from this one."""
    if not Path(UV).exists():
        pytest.skip("uv is not installed: make setup")
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "env")
    python = folder / "env" / "bin" / "python"
    install = ("pip", "install", "--offline", "--no-deps", "--python", python, wheel)
    done = run(UV, *install, folder=folder)
    assert done.returncode == 0, done.stderr
    (packages,) = folder.glob("env/lib/python*/site-packages")
    # A folder listed in a .pth file is searched last, and its own .pth files are not processed.
    (packages / "needed.pth").write_text(sysconfig.get_path("purelib"))
    return python.parent


def test_the_wheel_contains_every_file_of_the_packages(wheel: Path) -> None:
    tracked = run("git", "ls-files", *rooms(), folder=ROOT)
    if tracked.returncode != 0:
        pytest.skip("not a git clone")
    left_out = ("deploy/helm/", "deploy/packaging.py", "deploy/chart_values.py")
    wanted = {each for each in tracked.stdout.splitlines() if not each.startswith(left_out)}
    held = set(zipfile.ZipFile(wheel).namelist())
    assert wanted - held == set()
    strangers = {each for each in held - wanted if ".dist-info/" not in each}
    assert strangers - set(untracked()) == set()


def untracked() -> list[str]:
    """Files in the clone that are not committed yet."""
    return run(
        "git", "ls-files", "--others", "--exclude-standard", *rooms(), folder=ROOT
    ).stdout.splitlines()


def test_the_sdist_builds_an_identical_wheel(built: Path, wheel: Path, tmp_path: Path) -> None:
    with tarfile.open(built / f"fleetgate-{version()}.tar.gz") as files:
        files.extractall(tmp_path, filter="data")
    build(tmp_path / f"fleetgate-{version()}", tmp_path, "-t", "wheel")
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_installed_command_prints_its_version(bin_folder: Path, tmp_path: Path) -> None:
    for name in ("fleetgate", "kubectl-fleetgate"):
        done = run(bin_folder / name, "--version", folder=tmp_path)
        assert (done.returncode, done.stdout) == (0, f"fleetgate {version()}\n"), done.stderr


def test_the_installed_command_includes_the_definitions(bin_folder: Path, tmp_path: Path) -> None:
    done = run(bin_folder / "fleetgate", "crds", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    shipped = {path.name for path in (ROOT / "deploy" / "crds").glob("*.yaml")}
    printed = list(yaml.load_all(done.stdout, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    named = {f"{each['spec']['group']}_{each['spec']['names']['plural']}.yaml" for each in printed}
    assert named == shipped


def test_the_installed_worker_refuses_a_wrong_setting(bin_folder: Path, tmp_path: Path) -> None:
    done = run(bin_folder / "fleetgate", "worker", folder=tmp_path, FLEETGATE_STUCK_AFTER="soon")
    assert done.returncode == 2
    assert done.stderr.startswith("error: FLEETGATE_STUCK_AFTER is 'soon': ")


def test_the_installed_fleet_finds_its_worker_and_build_recipes(
    bin_folder: Path, tmp_path: Path
) -> None:
    ask = (
        "import worker, deploy.local.own_processes as own, deploy.local.programs as programs\n"
        "print(worker.__file__, own._WORKER)\n"
        "print(programs.ETCD_PROGRAM.build.recipe, programs.API_SERVER_PROGRAM.build.recipe)"
    )
    done = run(bin_folder / "python", "-P", "-c", ask, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = [Path(each) for each in done.stdout.split()]
    assert [each for each in found if not each.is_relative_to(bin_folder.parent)] == []
    loaded, started, *recipes = found
    assert started == loaded
    for recipe in recipes:
        assert {"go.mod", "go.sum"} <= {each.name for each in recipe.iterdir()}


def test_everything_imported_is_declared() -> None:
    """Nothing works only because the tests' own dependencies are installed too."""
    provided = metadata.packages_distributions()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [each for needed in project["optional-dependencies"].values() for each in needed]
    declared = {normal(re.split(r"[<>=\[]", each)[0]) for each in project["dependencies"] + extras}
    own = {Path(each).stem for each in rooms()}
    for room in rooms():
        for file in [ROOT / room] if room.endswith(".py") else (ROOT / room).rglob("*.py"):
            for name in imported_by(file) - sys.stdlib_module_names - own:
                assert declared & set(map(normal, provided[name])), f"{file} imports {name}"


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
