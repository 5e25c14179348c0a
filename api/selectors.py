"""Label selectors, as Kubernetes has them."""

from typing import Annotated

from pydantic import Field

from api.base import FrozenModel
from api.markers import Atomic


class LabelSelectorRequirement(FrozenModel):
    """One requirement on the value of a label."""

    key: str
    """Label key that the requirement is about."""
    operator: str
    """How the label's value relates to values: In, NotIn, Exists or DoesNotExist."""
    values: Annotated[list[str], Atomic()] = Field(default_factory=list)
    """What the value is compared with; empty for Exists and DoesNotExist."""


class LabelSelector(FrozenModel):
    """Selects objects by their labels; all parts must match, an empty selector matches all."""

    match_labels: dict[str, str] = Field(default_factory=dict)
    """Labels that must be there with these values."""
    match_expressions: Annotated[list[LabelSelectorRequirement], Atomic()] = Field(
        default_factory=list
    )
    """Further requirements on labels."""
