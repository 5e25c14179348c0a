"""All access to Kubernetes API servers.

Client, watch cache, work queue, controller, leader election, errors. Objects are plain
dicts in wire form; other packages parse what they need with the models of `api`. May import only
`api`, and knows nothing of rollouts.
"""

from hub.cache import Cache
from hub.client import Hub, Listing
from hub.controller import Controller
from hub.errors import (
    PASSING,
    AlreadyExists,
    BadConfiguration,
    Conflict,
    Fenced,
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
from hub.identity import process_identity
from hub.leadership import Election, LeasePace, Standing
from hub.limits import Limits, allow_many_files
from hub.objects import Json, Key, key_of, labels_of, uid_of, version_of
from hub.pod import own_namespace
from hub.queue import WorkQueue
from hub.requests import Lane
from hub.shared import SharedCaches
from hub.store import Change, Keep, whole
from hub.term import Term
from hub.vitals import BOUNDS, Efforts
from hub.watching import WatchEvent

__all__ = [
    "BOUNDS",
    "PASSING",
    "AlreadyExists",
    "BadConfiguration",
    "Cache",
    "Change",
    "Conflict",
    "Controller",
    "Efforts",
    "Election",
    "Fenced",
    "Forbidden",
    "Gone",
    "Hub",
    "HubError",
    "Invalid",
    "Json",
    "Keep",
    "Key",
    "Lane",
    "LeasePace",
    "Limits",
    "Listing",
    "NotFound",
    "SharedCaches",
    "Standing",
    "Term",
    "TimedOut",
    "TooManyRequests",
    "Unauthorized",
    "Unavailable",
    "WatchEvent",
    "WorkQueue",
    "allow_many_files",
    "key_of",
    "labels_of",
    "own_namespace",
    "process_identity",
    "record",
    "uid_of",
    "version_of",
    "whole",
]
