"""`python -m tests.audit` checks the packages in `uv.lock` for known vulnerabilities."""
