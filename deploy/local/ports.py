"""Free TCP ports on the loopback address."""

import random
import socket
from contextlib import closing
from typing import Final

LOOPBACK: Final = "127.0.0.1"

# Below the range from which systems take the ports of outgoing connections (Linux from 32768,
# others from 49152): such a port would often be taken by the next `up`.
_CANDIDATES: Final = range(20_000, 30_000)
_ATTEMPTS: Final = 200


def is_free(port: int) -> bool:
    """Whether a server could listen on the port now."""
    with closing(socket.socket()) as probe:
        # As servers do: connections that linger after a restart do not make a port busy.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose(*, preferred: int | None = None, taken: frozenset[int] = frozenset()) -> int:
    """Return the preferred port while it is free, else another one that is not in `taken`."""
    if preferred is not None and preferred not in taken and is_free(preferred):
        return preferred
    for port in random.sample(_CANDIDATES, _ATTEMPTS):
        if port not in taken and is_free(port):
            return port
    raise OSError(f"no free port found on {LOOPBACK} in {_ATTEMPTS} attempts")
