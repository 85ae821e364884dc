"""TOML, by the parser of Python, or before 3.11 by the package that became it."""

import sys

if sys.version_info >= (3, 11):
    from tomllib import loads
else:
    from tomli import loads

__all__ = ["loads"]
