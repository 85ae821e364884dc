"""`python -m opsinfo_cli` is `opsinfo`."""

from .app import main

main()
