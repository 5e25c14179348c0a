"""Limits of a hub client, each with its reason, and of the process: its open files."""

import resource
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes and durations; the defaults suit one process that talks to one API server."""

    connections: int = 256
    """Maximum number of parallel requests, without watches, Leases and heartbeats, which have their
    own connections. An API server handles 200 to 400 requests at once before it queues them."""

    heartbeats: int = 32
    """Maximum number of parallel heartbeats: a process may send those of a thousand members."""

    connect_timeout: timedelta = timedelta(seconds=10)
    """Time limit for connecting, including the TLS handshake and waiting for a free connection."""

    request_timeout: timedelta = timedelta(seconds=30)
    """Time limit for one request, from its start to the last byte of the answer. The API server
    itself gives up on a request after 60 s; half of that reports a problem sooner."""

    page_size: int = 500
    """Objects in one page of a list; the same as in kubectl."""

    large_page_size: int = 50
    """The same for large objects of which only a part is kept: 500 Works of 21 KB take 60 MB while
    they are parsed, and Python returns little of that to the system."""

    watch_duration: timedelta = timedelta(seconds=35)
    """How long a watch runs before the API server ends it, after sending a bookmark. Less than
    `silence`, so that a healthy watch is never mistaken for a dead one."""

    silence: timedelta = timedelta(seconds=40)
    """A watch that receives no byte for this long is considered dead (a lost route, a stopped
    server), and is reconnected."""

    reconnect_first: timedelta = timedelta(milliseconds=100)
    """Pause after the first failure of a watch; it doubles with each further failure."""

    reconnect_most: timedelta = timedelta(seconds=10)
    """Longest pause between two attempts to reconnect: about how long it takes after an API server
    is back until everything is in sync again."""

    relist_after: timedelta = timedelta(minutes=10)
    """How often a cache lists and compares all objects, in case a watch has lost an event."""

    linger: timedelta = timedelta(seconds=30)
    """How long a shared cache outlives its last user, so that the next one finds it filled."""

    discovery_age: timedelta = timedelta(seconds=30)
    """How long the list of served kinds is cached: a new CRD is seen after this time at most."""


# -- of the process ------------------------------------------------------------------------


def allow_many_files() -> None:
    """Raise the soft limit of open files to the hard limit, as Go programs do.

    The soft limit is often 1,024, for programs that call `select`. Each watch is a connection, and
    a worker with the agents of many members has thousands.
    """
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Some systems reject their own hard limit; then the soft limit stays.
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
