"""Names of the search attributes, for programs that do not talk to Temporal themselves."""

from enum import StrEnum


class Name(StrEnum):
    """What Temporal calls each search attribute; `workflows.search_attributes` explains them."""

    PLACEMENT = "FleetgatePlacement"
    STRATEGY = "FleetgateStrategy"
    SCOPE = "FleetgateScope"
    NAMESPACE = "FleetgateNamespace"
    STATE = "FleetgateState"
    STAGE = "FleetgateStage"
