"""The parts of `simulate`: its options, and the simulation that they request."""
