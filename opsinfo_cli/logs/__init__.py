"""Training logs: one reader per format, and the verdict on what they prove."""
