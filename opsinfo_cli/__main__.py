"""`python -m opsinfo_cli` is `opsinfo`."""

from .cli.app import main

main()
