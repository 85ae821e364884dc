"""The parts of `bisect`: its options, what judges a trial, and one run from the journal to the answer."""
