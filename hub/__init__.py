"""The one way to talk to a Kubernetes API server.

Client, watch cache, work queue, controller, errors. Objects travel as plain dicts, the
wire's JSON; other rooms parse what they need with the models of `api`. May import `api`
only, and does not know what a rollout is.
"""

from hub.cache import Cache
from hub.client import Hub, Listing
from hub.controller import Controller
from hub.errors import (
    AlreadyExists,
    BadConfiguration,
    Conflict,
    Forbidden,
    Gone,
    HubError,
    Invalid,
    NotFound,
    TimedOut,
    TooManyRequests,
    Unauthorized,
    Unavailable,
)
from hub.events import record
from hub.limits import Limits
from hub.objects import Json, Key, key_of, version_of
from hub.queue import WorkQueue
from hub.shared import SharedCaches
from hub.store import Change
from hub.vitals import BOUNDS
from hub.watching import WatchEvent

__all__ = [
    "BOUNDS",
    "AlreadyExists",
    "BadConfiguration",
    "Cache",
    "Change",
    "Conflict",
    "Controller",
    "Forbidden",
    "Gone",
    "Hub",
    "HubError",
    "Invalid",
    "Json",
    "Key",
    "Limits",
    "Listing",
    "NotFound",
    "SharedCaches",
    "TimedOut",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "WatchEvent",
    "WorkQueue",
    "key_of",
    "record",
    "version_of",
]
