"""A program that serves as vLLM does, for tests of what a run does with it: python served_program.py PORT BEHAVIOUR…

It writes the numbers of its process and of a child of its own to the file SERVED_PIDS.
Behaviours: dies (at start, with what vLLM writes), deaf (never ready), stubborn (ignores
SIGTERM), falls=N (ends with the N-th call), slow (0.3 s for each call), child (starts a child).
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

if "--version" in sys.argv:
    print("served 1.2.3")
    sys.exit()
PORT = int(sys.argv[1])
BEHAVIOUR = dict(word.partition("=")[::2] for word in sys.argv[2:])
PIDS = Path(os.environ["SERVED_PIDS"])
CALLS: list[str] = []


def note(number: int) -> None:
    with PIDS.open("a") as file:
        file.write(f"{number}\n")


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def reply(self, status: int, body: dict) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_GET(self) -> None:
        self.reply(503 if "deaf" in BEHAVIOUR else 200, {})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            return self.reply(404, {"error": "none"})
        CALLS.append(self.path)
        if len(CALLS) >= int(BEHAVIOUR.get("falls", 1 << 30)):
            print("(EngineCore pid=7) ERROR 11-22 22:22:22 [core.py:1] torch.OutOfMemoryError: CUDA out of memory.")
            sys.stdout.flush()
            os._exit(1)
        if "slow" in BEHAVIOUR:
            time.sleep(0.3)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "No"}}
        if "logprobs" in asked:
            top = [{"token": "Yes", "logprob": -2.0}, {"token": "No", "logprob": -0.2}]
            choice["logprobs"] = {"content": [{"token": "No", "logprob": -0.2, "top_logprobs": top}]}
        return self.reply(200, {"id": "1", "model": asked["model"], "choices": [choice]})

    def log_message(self, *_: object) -> None:
        """Say nothing."""


note(os.getpid())
if "stubborn" in BEHAVIOUR:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "child" in BEHAVIOUR:
    if (child := os.fork()) == 0:
        time.sleep(600)
    note(child)  # by the parent, before it is ready: the child may come to nothing for a while
if "dies" in BEHAVIOUR:
    print("INFO 11-22 22:22:22 [api_server.py:1] vLLM begins")
    print("(EngineCore pid=7) ERROR 11-22 22:22:22 [core.py:1] ValueError: Free memory on device is less than desired.")
    print("RuntimeError: Engine core initialization failed. See root cause above.")
    print("No such option '--no-such-argument' (an error)\nOptions:\n  --seed N\n  --help  Show this", flush=True)
    sys.exit(1)
ThreadingHTTPServer(("127.0.0.1", PORT), Answers).serve_forever()
