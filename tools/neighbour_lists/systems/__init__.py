"""One module per system: ``read`` takes its lists from an upstream source."""
