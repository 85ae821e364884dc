"""Text with places: JSON located and edited in the file's own style, bash and TOML read, what a terminal would obey
escaped. Knows nothing of operators.
"""
