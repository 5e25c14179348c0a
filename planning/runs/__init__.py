"""Update runs: the plan, the status, what may still go on, and what people are told."""
