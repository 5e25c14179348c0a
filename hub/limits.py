"""The limits under which a hub works: sizes and durations, each with its reason."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Limits:
    """How much and how long; the defaults suit one process against one API server."""

    connections: int = 256
    """Requests side by side at most, watches, Leases and heartbeats not counted: they have
    connections of their own. An API server answers 200 to 400 at once before it queues them."""

    heartbeats: int = 32
    """Heartbeats side by side at most: a process may send those of a thousand members."""

    connect_timeout: timedelta = timedelta(seconds=10)
    """Until a connection and its TLS handshake stand, waiting for a free one included."""

    request_timeout: timedelta = timedelta(seconds=30)
    """For one request from start to the last byte of its answer. The API server itself gives
    up on a request after 60 s; half of that tells a person sooner."""

    page_size: int = 500
    """Objects in one page of a list; what kubectl asks for."""

    large_page_size: int = 50
    """The same of objects of which little is kept: as they come, 500 Works of 21 KB take 60 MB,
    and Python gives little of that back."""

    watch_duration: timedelta = timedelta(seconds=35)
    """After this the API server ends a watch by itself, having sent a bookmark before. Less than
    `silence`, so that a healthy watch is never taken for a dead one."""

    silence: timedelta = timedelta(seconds=40)
    """A watch that brings not a single byte for this long is dead (a lost route, a stopped
    server): connect again."""

    reconnect_first: timedelta = timedelta(milliseconds=100)
    """Pause after the first failure of a watch; it doubles with each further one."""

    reconnect_most: timedelta = timedelta(seconds=10)
    """Longest pause between two tries to reconnect: about how long after an API server's
    return everything is in step again."""

    relist_after: timedelta = timedelta(minutes=10)
    """A cache lists and compares at least this often, in case a watch lost an event silently."""

    linger: timedelta = timedelta(seconds=30)
    """A shared cache outlives its last user by this, so that whoever comes next
    finds it filled."""

    discovery_age: timedelta = timedelta(seconds=30)
    """How long the list of served kinds is believed; a new CRD is seen after this at most."""
