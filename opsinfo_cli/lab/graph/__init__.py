"""A model's graph, and the effect of a policy on it, node by node, as the engine decides.

``graph`` and ``builder`` are the value and its builder, ``readers`` create it from files, ``undo`` reverts changes by a
compiler. ``judging`` calls the judge; ``answer``, ``reason`` and ``casts`` hold its results; ``api`` is for notebooks.
"""
