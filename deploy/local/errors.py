"""What can go wrong with the local fleet, each with a text for the person at the terminal.

LocalFleetError
 +-- BinaryMissing     no way to get one of the programs worked
 +-- DiskFull          the file system has no room left
 +-- FleetBusy         another command is at work on the same fleet
 +-- NotObtained       one way to get a program did not work; the next is tried
 |    +-- ChecksumMismatch  a download is not what its project published
 +-- ProcessFailed     a program ended, or did not become ready in time
 +-- UnknownProcess    the fleet has no process of that name
 +-- WrongSize         the fleet exists with another number of members
"""

# ruff: noqa: N818 - the names say what happened, without "Error"


class LocalFleetError(Exception):
    """Something about the local fleet that a person can mend; the text says how."""


class BinaryMissing(LocalFleetError):
    """No way to get one of the programs worked."""


class NotObtained(LocalFleetError):
    """One way to get a program did not work; the next is tried."""


class ChecksumMismatch(NotObtained):
    """A download is not what its project published."""


class DiskFull(LocalFleetError):
    """The file system has no room left."""


class FleetBusy(LocalFleetError):
    """Another command is at work on the same fleet."""


class ProcessFailed(LocalFleetError):
    """A program ended by itself, or did not become ready in time."""


class UnknownProcess(LocalFleetError):
    """The fleet has no process of that name."""


class WrongSize(LocalFleetError):
    """The fleet exists with another number of members."""
