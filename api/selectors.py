"""Label selectors, as in Kubernetes."""

from typing import Annotated

from pydantic import Field

from api.base import FrozenModel
from api.markers import Atomic


class LabelSelectorRequirement(FrozenModel):
    """One requirement on the value of a label."""

    key: str
    """Label key that the requirement applies to."""
    operator: str
    """How the label is compared with the values: In, NotIn, Exists or DoesNotExist."""
    values: Annotated[list[str], Atomic()] = Field(default_factory=list)
    """Values to compare with; empty for Exists and DoesNotExist."""


class LabelSelector(FrozenModel):
    """Selector of objects by label; all parts must match; an empty selector matches all."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    """Labels that objects must have, with these values."""
    match_expressions: Annotated[list[LabelSelectorRequirement], Atomic()] = Field(
        default_factory=list
    )
    """Further requirements on labels."""
