"""Training logs, one reader per format, and what they prove."""
