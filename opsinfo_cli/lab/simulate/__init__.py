"""A model computed on a CPU with every low tensor rounded as it would be stored."""
