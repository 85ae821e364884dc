"""SoC names, and the folders of their libraries."""

from __future__ import annotations

KNOWN_FOLDERS = [
    "ascend031",
    "ascend035",
    "ascend630",
    "ascend610lite",
    "ascend310b",
    "ascend310p",
    "ascend910",
    "ascend910b",
    "ascend910_93",
    "ascend950",
    "kirinx90",
    "kirin9030",
    "mc62",
]
"""Only for suggestions: the folders on the disk decide."""

_PRODUCTS = {
    "ascend910": "ascend910a ascend910proa ascend910b ascend910prob ascend910premiuma",
    "ascend910b": "ascend910b1 ascend910b2 ascend910b2c ascend910b3 ascend910b4 ascend910b4-1",
    "ascend910_93": "ascend910_9391 ascend910_9381 ascend910_9372 ascend910_9392 ascend910_9382 ascend910_9361",
    "ascend310p": "ascend310p1 ascend310p3 ascend310p3vir01 ascend310p3vir02 ascend310p3vir04 ascend310p3vir08",
    "ascend310b": "ascend310b1",
    "bs9sx1a": "bs9sx1aa",
    "kirinx90": "kirinx90",
    "kirin9030": "kirin9030",
    "ascend5162a": "ascend5162a",
}
_FOLDER = {product: folder for folder, products in _PRODUCTS.items() for product in products.split()}


def folder_of(name: str, folders: list[str]) -> str | None:
    """Return the folder of a SoC name: the name itself if it is a folder's exact name, else by the product table.

    ``Ascend910B``, with capitals, is the product name of the old 910, by the table;
    ``ascend910b`` is the folder of the A2 series.
    """
    if name in folders:
        return name
    product = _FOLDER.get(name.lower())
    if product in folders:
        return product
    lower = name.lower()
    return lower if lower in folders and lower not in _FOLDER else None


def products_of(folder: str) -> list[str]:
    return _PRODUCTS.get(folder, "").split()


def suggest(name: str, folders: list[str]) -> list[str]:
    from .near_names import near_names

    return near_names(name.lower(), folders)
