"""Files and folders that only their owner may read, written atomically."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.local.errors import DiskFull


def private_folder(path: Path) -> Path:
    """Create the folder, which only its owner may read, and missing parents."""
    with disk_full_explained(path):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    return path


def write_private(path: Path, text: str) -> None:
    """Replace the file atomically; readers see either the old text or the new one."""
    with disk_full_explained(path):
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def disk_full_explained(path: Path) -> Iterator[None]:
    """Turn "no space left" into an error that names the file system."""
    try:
        yield
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        raise DiskFull(
            f"no space left on the file system of {path}; free some space and run the command again"
        ) from error
