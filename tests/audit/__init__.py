"""`python -m tests.audit`: whether anything is known against the packages in `uv.lock`."""
