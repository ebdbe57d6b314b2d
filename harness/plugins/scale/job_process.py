"""The process of one job of a sweep (parallel=N): takes its order from standard input, and ends when that is closed."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading

from harness.cli.exit_code import exit_code
from harness.runtime import signals, streams
from harness.sweep.order import Order


def main() -> None:
    """Carry out the job that standard input describes."""
    streams.prepare()
    order = Order(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_end_with_input, daemon=True).start()
    signals.leave(exit_code(order.carry_out, interrupted=""))


def _end_with_input() -> None:
    """Wait for the end of standard input, then ask this process to end: who began it wants that, or is gone."""
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
