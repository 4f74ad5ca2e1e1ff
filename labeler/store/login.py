"""Who works at this machine: told without loading a database, as the first paint wants it."""

from __future__ import annotations

__all__ = ["login_name"]


def login_name() -> str:
    """Tell the login name, or 'unknown' where the system has none."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
