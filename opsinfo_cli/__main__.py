"""`opsinfo`, and `python -m opsinfo_cli`: an interrupt while modules are imported has status 130, and no traceback."""

import _signal  # type: ignore[import-not-found]  # signal imports enum and more, in which an interrupt has a traceback
import os


def main() -> None:
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # ignored in the background of a script
        _signal.signal(_signal.SIGINT, lambda *_: os._exit(130))  # app.main replaces it
    from .app import main as run

    run()


if __name__ == "__main__":
    main()
