"""The limit of open files, and so of connections, of this process."""

import resource
from contextlib import suppress


def allow_many_files() -> None:
    """Raise the soft limit of open files to the hard limit, as Go programs do.

    The soft limit is often 1,024, for programs that call `select`. Each watch is a connection, and
    a worker with the agents of many members has thousands.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems reject their own hard limit; then the soft limit stays.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
