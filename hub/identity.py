"""Identities of the processes in an election, and whether another one has certainly ended."""

import errno
import hashlib
import os
import secrets
import socket
from pathlib import Path
from typing import Final

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_PROCESS_IDS: Final = Path("/proc/self/ns/pid")
_SEPARATOR: Final = "_"


def process_identity() -> str:
    """Return a unique name for this process: `host_pid_place_random`."""
    parts = (socket.gethostname(), str(os.getpid()), _place(), secrets.token_hex(4))
    return _SEPARATOR.join(parts)


def is_gone(identity: str) -> bool:
    """Return whether the process with this name has certainly ended.

    This can be known only for processes in the same place, where process ids mean the same. False
    for all other names, including those that are not from `process_identity`.
    """
    parts = identity.rsplit(_SEPARATOR, 3)
    if len(parts) < 4:
        return False
    host, pid, place, _ = parts
    if (host, place) != (socket.gethostname(), _place()) or not pid.isdecimal():
        return False
    return int(pid) == os.getpid() or not _runs(int(pid))


def _place() -> str:
    """Return where process ids are valid: this boot of this machine, and the container if any."""
    try:
        boot = _BOOT.read_text() + str(_PROCESS_IDS.readlink())
    except OSError:  # Not Linux, so not in a container.
        import psutil  # here, as in `_is_zombie`

        boot = f"{psutil.boot_time():.0f}"
    return hashlib.sha256(boot.encode()).hexdigest()[:8]


def _runs(pid: int) -> bool:
    # Not psutil.pid_exists, which does not see other users' processes if /proc hides them.
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Return whether a process has ended, but its parent has not yet collected its exit status."""
    # Imported here because every command imports the hub, but only elections need this.
    import psutil

    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
