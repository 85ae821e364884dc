"""The command line: commands, reading and running a line, and shared parts."""
