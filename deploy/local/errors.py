"""Errors of the local fleet, each with a text for the user at the terminal.

LocalFleetError
 +-- BinaryMissing     a required program could not be found, downloaded or built
 +-- DiskFull          the file system has no space left
 +-- FleetBusy         another command is running on the same fleet
 +-- NotObtained       one way to get a program failed; the next one is tried
 |    +-- ChecksumMismatch  a download does not match the published checksum
 +-- ProcessFailed     a program exited, or did not become ready in time
 +-- UnknownProcess    the fleet has no process of that name
 +-- WrongSize         the fleet exists with a different number of members
"""

# ruff: noqa: N818 - the names say what happened, without "Error"

from deploy.errors import DeployError


class LocalFleetError(DeployError):
    """A problem with the local fleet that the user can fix; the text says how."""


class BinaryMissing(LocalFleetError):
    """A required program could not be found, downloaded or built."""


class NotObtained(LocalFleetError):
    """One way to get a program failed; the next one is tried."""


class ChecksumMismatch(NotObtained):
    """A download does not match the published checksum."""


class DiskFull(LocalFleetError):
    """The file system has no space left."""


class FleetBusy(LocalFleetError):
    """Another command is running on the same fleet."""


class ProcessFailed(LocalFleetError):
    """A program exited by itself, or did not become ready in time."""


class UnknownProcess(LocalFleetError):
    """The fleet has no process of that name."""


class WrongSize(LocalFleetError):
    """The fleet exists with a different number of members."""
