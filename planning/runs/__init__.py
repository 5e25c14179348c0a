"""Update runs: planning, status, validation, events and metrics."""
