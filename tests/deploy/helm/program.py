"""Helm, found or got as the fleet's own programs are."""

from pathlib import Path
from typing import Final

from deploy.local.binaries import Finder
from deploy.local.programs import Build, Download, Program
from deploy.local.progress import silent

VERSION: Final = "v4.3.1"

_RELEASE: Final = f"https://get.helm.sh/helm-{VERSION}-{{system}}-{{machine}}.tar.gz"
_PROGRAM: Final = Program(
    name="helm",
    version=VERSION,
    variable="FLEETGATE_HELM",
    download=Download(
        url=_RELEASE,
        checksums=f"{_RELEASE}.sha256sum",
        member="{system}-{machine}/helm",
        systems=("linux", "darwin"),
    ),
    build=Build(package="helm.sh/helm/v4/cmd/helm", flags="-s -w", version=VERSION),
    asked="version",
)


def find_helm(environment: dict[str, str]) -> Path:
    """Where Helm is. The first time on a machine it may take minutes, to build it."""
    return Finder(environment, progress=silent()).find(_PROGRAM)
