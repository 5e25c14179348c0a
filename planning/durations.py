"""Durations in Go's format, which users of the API write and read.

contract: update-runs 2.2 (serialisation), 3 (pattern of waitTime)
"""

import re
from datetime import timedelta
from typing import Final

_SECONDS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ms|us|µs|ns|h|m|s)")
_LONGEST: Final = timedelta(hours=2562047)
"""The longest duration in Go, about 292 years."""


def parse(text: str) -> timedelta:
    """Read a Go duration such as `1h30m`, `1.5h` or `0s`.

    Raises:
        ValueError: the text is not a duration; the message quotes it and gives examples.
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration; write it like 90s, 5m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds > _LONGEST.total_seconds():
        raise ValueError(f"{text!r} is too long for a duration; the longest is about 290 years")
    return timedelta(seconds=seconds)


def format_duration(value: timedelta) -> str:
    """Write a duration as Go does: `1m` becomes `1m0s`, `0` becomes `0s`."""
    microseconds = value // timedelta(microseconds=1)
    if 0 < microseconds < 1000:
        return f"{microseconds}µs"
    if 0 < microseconds < 1_000_000:
        return f"{_decimal(microseconds, 1000)}ms"
    minutes, rest = divmod(microseconds, 60_000_000)
    seconds = f"{_decimal(rest, 1_000_000)}s"
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}h{minutes}m{seconds}"
    return f"{minutes}m{seconds}" if minutes else seconds


def short(value: timedelta) -> str:
    """Write a duration as people do: `5m` where Go writes `5m0s`."""
    return re.sub(r"(?<=[hm])0[ms]", "", format_duration(value))


def _decimal(value: int, unit: int) -> str:
    whole, rest = divmod(value, unit)
    fraction = f"{rest / unit:.6f}".removeprefix("0").rstrip("0")
    return f"{whole}{fraction.removesuffix('.')}"
