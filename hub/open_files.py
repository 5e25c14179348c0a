"""How many files, and so connections, this process may have open."""

import resource
from contextlib import suppress


def allow_many_files() -> None:
    """Raise this process's limit of open files as far as its user may, as programs in Go do.

    The limit that a process starts with is often 1,024, for programs that call `select`. Each
    watch is a connection, and a worker with the agents of many members has thousands.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems refuse what they say is possible; then it stays as it was.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
