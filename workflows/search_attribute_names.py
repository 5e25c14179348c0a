"""Names of the search attributes, for programs that do not talk to Temporal themselves."""

from enum import StrEnum


class Name(StrEnum):
    """Name of each search attribute in Temporal; `workflows.search_attributes` explains them."""

    PLACEMENT = "FleetgatePlacement"
    STRATEGY = "FleetgateStrategy"
    SCOPE = "FleetgateScope"
    NAMESPACE = "FleetgateNamespace"
    STATE = "FleetgateState"
    STAGE = "FleetgateStage"
