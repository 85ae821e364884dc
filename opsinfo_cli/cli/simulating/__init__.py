"""The parts of `simulate`: its options, and a simulation opened as they ask."""
