"""Compare two folders of float32 files (.bin) and print 1 - cosine, the worst; exit status 1 if it is above a bound.

Usage: compare.py OUTPUTS REFERENCE [MAX_LOSS]. Files are compared in the order of their names, as many as REFERENCE
has; below a folder of OUTPUTS that msame made for a run, too. Exit status 125, cannot tell, if they do not fit.
"""

import sys
from pathlib import Path

import numpy as np


def main(outputs: str, reference: str, most: str = "inf") -> int:
    found, wanted = (sorted(Path(folder).rglob("*.bin")) for folder in (outputs, reference))
    if not wanted or len(found) != len(wanted):
        print(f"{len(found)} outputs, {len(wanted)} in {reference}", file=sys.stderr)
        return 125
    losses = []
    for a, b in zip(found, wanted, strict=True):
        x, y = (np.fromfile(path, np.float32).astype(np.float64) for path in (a, b))
        if x.shape != y.shape:
            print(f"{a}: {x.size} values, {b}: {y.size}: are the outputs float32?", file=sys.stderr)
            return 125
        norms = float(np.linalg.norm(x) * np.linalg.norm(y))
        equal = np.array_equal(x, y)
        loss = 0.0 if equal else 1 - float(x @ y) / norms if norms > 0 else 1.0
        losses.append(loss if np.isfinite(x).all() else float("inf"))
    print(f"loss {max(losses):.9g}")
    return 0 if max(losses) <= float(most) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
