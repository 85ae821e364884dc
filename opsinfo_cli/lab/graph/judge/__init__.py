"""The engine's rule that chooses one column of dtypes for every node (hicann/ge ffdcbc9f, nn_engine)."""
