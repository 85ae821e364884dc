"""The usual script to change a flag: copy, load, set, dump in place."""

import json
import shutil
import sys

path, backup, name, flag = sys.argv[1:]
shutil.copy(path, backup)
with open(path, encoding="utf-8") as file:
    library = json.load(file)
library[name].setdefault("precision_reduce", {})["flag"] = flag
with open(path, "w", encoding="utf-8") as file:
    json.dump(library, file, indent=4, sort_keys=True)
