"""Free TCP ports on the loopback address."""

import os
import random
import socket
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from time import time
from typing import Final

LOOPBACK: Final = "127.0.0.1"

# Below the range that systems use for outgoing connections (Linux from 32768, others from 49152):
# a port in that range would often be in use at the next `up`.
_CANDIDATES: Final = range(20_000, 30_000)
_ATTEMPTS: Final = 200

KEPT_FOR: Final = timedelta(minutes=2)
"""How long a chosen port stays reserved: a fleet chooses all its ports before its first server
listens, and another fleet may be starting at the same time."""


def is_free(port: int) -> bool:
    """Return whether a server could listen on the port now."""
    with closing(socket.socket()) as probe:
        # As servers do, so that connections lingering after a restart do not block the port.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose(*, preferred: int | None = None, taken: frozenset[int] = frozenset()) -> int:
    """Return the preferred port if it is free, otherwise another one that is not in `taken`."""
    if preferred is not None and preferred not in taken and is_free(preferred):
        return preferred
    for port in random.sample(_CANDIDATES, _ATTEMPTS):
        if port not in taken and is_free(port) and _keep(port):
            return port
    raise OSError(f"no free port found on {LOOPBACK} in {_ATTEMPTS} attempts")


def _keep(port: int) -> bool:
    """Reserve a port; return False if another process of this user has reserved it recently."""
    folder = Path(tempfile.gettempdir(), f"fleetgate-ports-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    kept = folder / str(port)
    try:
        if time() - kept.stat().st_mtime < KEPT_FOR.total_seconds():
            return False
        kept.unlink(missing_ok=True)
    except FileNotFoundError:
        pass
    try:
        kept.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True
