"""Who a process is among those that take turns, and whether another one is certainly gone."""

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
    """Make a name for this process that no other has: `host_pid_place_random`."""
    parts = (socket.gethostname(), str(os.getpid()), _place(), secrets.token_hex(4))
    return _SEPARATOR.join(parts)


def is_gone(identity: str) -> bool:
    """Whether the process of this name has certainly ended.

    That can be known only of processes that ran in the same place, where process ids mean the
    same. Of any other name, and of those that nobody made here, it says no.
    """
    parts = identity.rsplit(_SEPARATOR, 3)
    if len(parts) < 4:
        return False
    host, pid, place, _ = parts
    if (host, place) != (socket.gethostname(), _place()) or not pid.isdecimal():
        return False
    return int(pid) == os.getpid() or not _runs(int(pid))


def _place() -> str:
    """Where process ids are counted: this boot of this machine, and the container if any."""
    try:
        told = _BOOT.read_text() + str(_PROCESS_IDS.readlink())
    except OSError:  # Not Linux, and so not in a container.
        import psutil  # here, as in `_is_zombie`

        told = f"{psutil.boot_time():.0f}"
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _runs(pid: int) -> bool:
    # Not psutil.pid_exists: it does not see other users' processes where /proc hides them.
    try:
        os.kill(pid, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Whether a process has ended, and only its parent has not asked yet how."""
    # Here, because every command imports the hub, and only those that take turns ask this.
    import psutil

    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
