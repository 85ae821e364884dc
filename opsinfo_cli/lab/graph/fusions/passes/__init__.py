"""The compiler's passes that change op types before dtypes are chosen: one module a family, its rules in ``RULES``."""
