"""`python -m opsinfo_cli` is `opsinfo`."""

from .cli.line.main import main

main()
