"""`python -m opsinfo_cli` is `opsinfo`."""

from .cli.main import main

main()
