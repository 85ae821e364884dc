"""Number formats, what values and tensors lose in them, dumped tensors."""
