"""The error of a call, to look at in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pytest

Error = TypeVar("Error", bound=Exception)


def raised(kind: type[Error], action: Callable[..., object], *arguments: Any, **keywords: Any) -> Error:
    """Return the error that a call raises."""
    with pytest.raises(kind) as caught:
        action(*arguments, **keywords)
    return caught.value
