"""OpDef sources: the C++ files in which the policy of an AI Core operator is written.

A source registers op types (``OP_ADD(T)``) whose constructors set ports, columns and, for each chip, a configuration
with ``PrecisionReduceFlag``. opbuild compiles these files, runs the constructors, and writes what they set to
``aic-<chip>-ops-info.ini``, from which a script makes the library. This package reads the same from the text, without a
compiler: the constructors are run from the words of the text. An argument or a call that cannot touch a flag, a chip or
a configuration is passed over, not understood.

- ``find``: which files of a folder are sources
- ``tokens``, ``preprocessor``: text to tokens; macros, conditions (worked out by ``runner``), and local includes inside
  the folder only
- ``source_text``: where brackets, items, operands, statements and heads of definitions end
- ``definitions``: what namespaces and classes define
- ``runner``: runs the constructors, and says what happens to what is not known
- ``values``, ``conversion``, ``standard``: what expressions are worth, as one of a type; the C++ library
- ``op_definition``: what the calls of ``OpDef``, ``OpAICoreConfig`` and ``OpParamDef`` set
- ``chip_ports``: the ports of an op type on one chip, and their columns
- ``words``, ``section``: the lines that opbuild writes of it
- ``reading``: the public names
- ``configuration_text``: the way back, from a policy to the lines of a source

What cannot be read is named, with file, line and reason; it is never guessed.

Sources: hicann/metadef at 786891c, ``base/asc/opdef``; mirror-cann/asc-devkit at 82b89a1, ``tools/build/opbuild``.
"""
