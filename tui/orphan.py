"""An app in a browser ends when its server is killed: nobody could reach it any more."""

from __future__ import annotations

import os
import signal
import threading
import time

__all__ = ["end_with_parent"]

_EVERY = 2.0


def end_with_parent() -> None:
    """Ask this process to end, as Ctrl-C at the server does, once the one that started it is gone.

    Where a system doesn't give orphans another parent (Windows), nothing is noticed.
    """
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_EVERY)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="labeler-orphan", daemon=True).start()
