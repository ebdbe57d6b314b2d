"""A server is started on a free port and watched until it is ready: the process as well as the port."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable

from harness.errors import RunStopped
from harness.plugins.serve import gpus, log_lines
from harness.plugins.serve.launch import Launch
from harness.plugins.serve.ports import HOST, free_port, is_strangers
from harness.plugins.serve.server import Server
from harness.runtime import companions
from harness.runtime.signals import STOP

_TRIES = 4
"""Ports that are tried: somebody may take one between its choice and the server's bind."""
_FIRST_LINE, _EVERY = 5.0, 15.0
"""Seconds of waiting after which it is worth a line, and until the next one."""
_LOOK = 0.1
"""Seconds between two looks at it."""


def running(launch: Launch, say: Callable[[str], None]) -> Server | None:
    """Return the server that this launch describes, ready: the one that runs already, or a new one.

    Any other of this process is ended first: they are asked one after the other, and would share a GPU. None where the
    user asks for the end meanwhile. Raises RunStopped where it ends, or is not ready in time.
    """
    if isinstance(there := companions.find(launch), Server) and there.code is None:
        return there
    companions.end_all()
    for tries_left in reversed(range(_TRIES)):
        locks = gpus.lock(launch.gpus, f"{launch.engine} with {launch.model}", say)
        try:
            server = Server(launch, free_port(), locks)
        except OSError as error:  # its log cannot be written, there are too many processes
            raise RunStopped(f"{launch.engine} cannot be started ({error}).") from None
        companions.add(server)
        try:
            if _becomes_ready(server, say):
                return server
        except BaseException:
            companions.end_all()
            raise
        if STOP.requested:
            companions.end_all()
            return None
        said = server.obituary()
        port_was_taken = not said or log_lines.port_was_taken(launch.log)
        companions.end_all()
        if not port_was_taken or not tries_left:
            raise RunStopped(f"{said or f'somebody else listens at every port that {launch.engine} was to have'}.")
        say(f"somebody else has taken port {server.port}: {launch.engine} is started again at another one")
    raise AssertionError("the last try returns or raises")


def _becomes_ready(server: Server, say: Callable[[str], None]) -> bool:
    """Wait until a server is ready; return False where it ended, a stranger has its port, or the user asks for the end.

    Raises RunStopped where its time is over.
    """
    launch = server.what
    next_line = server.started + _FIRST_LINE
    say(f"starting {launch.engine} with {launch.model} (its log: {launch.log})")
    while server.code is None and not STOP.requested:
        if _answers(server.port, launch.health):
            if is_strangers(server.port, server.session):
                return False
            say(f"{launch.engine} is ready after {time.monotonic() - server.started:.0f} s")
            return True
        seconds = time.monotonic() - server.started
        last = log_lines.last_line(launch.log)
        if seconds > launch.ready:
            raise RunStopped(
                f"{launch.engine} was not ready after {launch.ready:g} s (model.ready=… gives it more); the last line "
                f"of its log: {last or 'none'} (all of it is in {_keep_log(server)})."
            )
        if time.monotonic() > next_line:
            next_line = time.monotonic() + _EVERY
            say(f"{launch.engine} has been starting for {seconds:.0f} s{f': {last}' if last else ''}")
        time.sleep(_LOOK)
    return False


def _keep_log(server: Server) -> str:
    """Return where the log is, which would be taken away with a server that ended when it was told to."""
    object.__setattr__(server.what, "keeps_log", True)
    return str(server.what.log)


def _answers(port: int, health: str) -> bool:
    """Test whether a server says that it is ready, or has no such path, and so is there all the same."""
    connection = http.client.HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", health)
        return connection.getresponse().status in (200, 204, 401, 404, 405)
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
