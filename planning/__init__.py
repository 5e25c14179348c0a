"""Pure decisions: data and `now` in, data out.

Stage membership and order, concurrency, scheduling, selection order, availability,
conditions and messages. Never awaits, never reads a clock, never imports `hub`.
"""
