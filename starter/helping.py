"""Examples at the end of a command's help."""


def examples(*commands: str) -> str:
    r"""An epilog that shows commands as they are typed, one a line.

    The control character `\b` keeps click from re-flowing the lines.
    """
    return "\n".join(["\b", "Examples:", *(f"  {command}" for command in commands)])
