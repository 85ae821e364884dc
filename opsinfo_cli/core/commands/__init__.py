"""One small module per command: takes arguments, makes one call, returns the answer that the console prints."""
