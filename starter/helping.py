"""Examples at the end of a command's help."""


def examples(*commands: str) -> str:
    r"""Return an epilog that shows commands as they are typed, one per line.

    The control character `\b` keeps click from rewrapping the lines.
    """
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
