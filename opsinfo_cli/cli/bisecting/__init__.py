"""The parts of `bisect`: the subject of the search, the places of trials, and the delivery of the answer."""
