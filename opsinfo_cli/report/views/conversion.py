"""The entries that a conversion converted, dropped and added, and its losses, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...neighbours.conversion import Conversion
from ...neighbours.vocabulary import Loss
from ..terminal.output import Output

_SHOWN = 8


def show_conversion(output: Output, made: Conversion) -> None:
    """Print to stderr: first every entry that was not converted, with the reason; then the other losses."""
    dropped = {each.name for each in made.dropped}
    if dropped:
        output.say(f"{len(dropped)} of {len(made.given)} entries are not converted:", "warning")
        for each in made.dropped:
            output.item(f"{each.name}: {each.reason}")
    say_losses(output, (loss for loss in made.losses if not (loss.drops and dropped.issuperset(loss.names))))


def say_losses(output: Output, losses: Iterable[Loss]) -> None:
    """Print one line to stderr for each; -v and the JSON document have all names."""
    for loss in losses:
        single = loss.details or loss.names
        shown = len(single) if output.verbose else _SHOWN
        names = ", ".join(single[:shown])
        more = f" and {len(single) - shown} more" if len(single) > shown else ""
        said = f"{loss.message}: {names}{more}" if names else loss.message
        output.say(said, "note" if loss.is_harmless else "warning")


def conversion_document(made: Conversion) -> dict[str, Any]:
    """Return the part of `convert --format json` about the entries."""
    return {
        "entries": {
            "given": len(made.given),
            "carried": len(made.given) - len(made.dropped),
            "dropped": [{"name": each.name, "reason": each.reason} for each in made.dropped],
        },
        "added": list(made.added),
        "losses": [_loss_document(loss) for loss in made.losses],
    }


def _loss_document(loss: Loss) -> dict[str, Any]:
    return {
        "kind": loss.kind,
        "message": loss.message,
        "names": list(loss.names),
        "details": list(loss.details),
        "lossy": not loss.is_harmless,
    }
