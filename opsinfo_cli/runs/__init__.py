"""Training logs: one reader per format, and what the logs prove."""
