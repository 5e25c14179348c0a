"""The contract's error messages, with the prefixes of its section 5."""

E_ABORT = "cannot continue the updateRun"
E_VALID = "cannot continue the updateRun: failed to validate the updateRun"
E_USER = "failed to process the request due to a client error"
E_UNEXP = "unexpected behavior which cannot be handled by the controller"


def preempted(*, cluster: str, stage: str, binding: str) -> str:
    """The error of a cluster whose binding was changed by others (8.6a)."""
    return (
        f"{E_USER}: the binding of the updating cluster `{cluster}` in the stage `{stage}` is not "
        f"up-to-date with the desired status, please check the status of binding `{binding}` and "
        "see if there is a concurrent updateRun referencing the same placement and updating the "
        "same cluster"
    )


def unplaced(*clusters: str, total: int | None = None) -> str:
    """The error of a run if selected clusters are in no stage (7.5)."""
    return (
        f"{E_VALID}: {E_USER}: some clusters are not placed in any stage, "
        f"total {total or len(clusters)}, showing up to 10: {', '.join(clusters)}"
    )
