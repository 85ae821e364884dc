"""One small module per command: takes arguments, makes one call, prints a report, returns an exit code."""
