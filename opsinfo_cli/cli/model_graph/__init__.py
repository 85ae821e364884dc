"""The parts of `graph`: opening a model and judging it."""
