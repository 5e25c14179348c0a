"""Label selectors, as Kubernetes has them."""

from typing import Annotated

from pydantic import ConfigDict, Field

from api.base import ApiModel
from api.markers import Atomic


class LabelSelectorRequirement(ApiModel):
    """One requirement on the value of a label."""

    model_config = ConfigDict(frozen=True)

    key: str
    """Label key that the requirement is about."""
    operator: str
    """How the label's value relates to values: In, NotIn, Exists or DoesNotExist."""
    values: Annotated[list[str], Atomic()] = Field(default_factory=list)
    """What the value is compared with; empty for Exists and DoesNotExist."""


class LabelSelector(ApiModel):
    """Selects objects by their labels; all parts must match, an empty selector matches all."""

    model_config = ConfigDict(frozen=True)

    match_labels: dict[str, str] = Field(default_factory=dict)
    """Labels that must be there with these values."""
    match_expressions: Annotated[list[LabelSelectorRequirement], Atomic()] = Field(
        default_factory=list
    )
    """Further requirements on labels."""
