"""One small module per verb: arguments in, one call, a report out, an exit code."""
