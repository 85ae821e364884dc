"""The program as run by a shell, for the tests of commands."""

from program_fixtures import *  # noqa: F403
