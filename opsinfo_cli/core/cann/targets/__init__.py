"""What a TARGET may be: one module a kind, and the ordered table of them (``table``)."""
