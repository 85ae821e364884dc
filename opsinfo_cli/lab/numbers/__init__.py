"""Number formats, the losses of values and tensors in them, and dumped tensors."""
