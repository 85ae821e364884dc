"""A model's graph, and the effect of a policy on it, node by node, as the engine decides.

``graph`` and ``builder`` are the value and its builder, ``readers`` create it from files, ``undo`` reverts changes by a
compiler. ``fusions`` changes it as the compiler does before ``judge`` chooses dtypes; ``result``, ``reason`` and
``casts`` hold what was chosen. ``api`` goes from a file to a judged graph, for commands and programs.
"""
