"""The JSON documents of commands, as types; `docs/schemas.py` makes the published schemas of them."""
