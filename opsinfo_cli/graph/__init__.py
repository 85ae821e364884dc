"""A model's graph: what a policy does to it, node by node, as the engine decides."""
