"""The parts of `bisect`: what is searched, what judges a trial, and one run from the journal to the answer."""
