"""How many clusters of a stage may be updated at once.

contract: update-runs 8.3
"""

from planning.errors import abort


def limit(max_concurrency: int | str | None, *, clusters: int) -> int:
    """Turn `maxConcurrency` into a number of clusters, at least one.

    Raises:
        RunAborted: neither a number nor a percentage; the API server refuses such a value.
    """
    if max_concurrency is None:
        return 1
    if isinstance(max_concurrency, int):
        return max(1, max_concurrency)
    digits = max_concurrency.removesuffix("%")
    if digits == max_concurrency or not (digits.isascii() and digits.isdigit()):
        raise abort(f'invalid value for IntOrString: invalid value "{max_concurrency}"')
    return max(1, int(digits) * clusters // 100)
