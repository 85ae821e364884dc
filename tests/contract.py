"""What scripts rest on, stated once for all tests: exit statuses."""

from __future__ import annotations

import signal

STATUSES = (0, 1, 2, 3)
"""Done or clean; findings, differences or would change; wrong usage; a file or the system refused."""

SIGNAL_STATUSES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""After a signal that a run may end on."""
