"""`opsinfo`, and `python -m opsinfo_cli`: an interrupt while modules are imported has status 130, and no traceback."""

import os
import signal


def main() -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # ignored in the background of a script
        signal.signal(signal.SIGINT, lambda *_: os._exit(130))  # app.main replaces it
    from .app import main as run

    run()


if __name__ == "__main__":
    main()
