"""What a policy does to a model: its graph, simulations, searches, profiles and number formats."""
