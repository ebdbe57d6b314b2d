"""Whether the user has asked the program to end. Signals belong to the process, and so does this."""

from __future__ import annotations


class Stop:
    """Set by the first Ctrl-C; looked at before another request is asked, another batch run, another retry awaited."""

    requested = False


STOP = Stop()
