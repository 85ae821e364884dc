"""`opsinfo systems`: the lists of other systems; one module a command."""

from .group import command as command
