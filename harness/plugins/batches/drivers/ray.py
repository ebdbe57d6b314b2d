"""Answer the requests of this folder with Ray Data, into answers/. What is answered stays: the same command goes on.

    python driver.py [--model CHECKPOINT] --engines 8 --gpus 1 [OPTION OF vllm serve ...]
    python driver.py --url http://HOST:8000/v1

Each of the engines is a vLLM server that Ray places and this ends, of the model that the requests name or of another
path (--model); with --url the server is there already.
All nodes have to see this folder. Then: harness cache import answers/

Ray's checkpoint (by custom_id) leaves out what is answered. Not by ray.data.llm: its offline vLLM stage drops
finish_reason, by which a reply that was cut off is known, and its stage for servers hands on no status and takes bodies
as columns of Arrow, in which what one request lacks can become null. Here a body goes out as it is, and the reply is
kept whole.
"""

import argparse
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MODEL, PATH = "@MODEL@", "@PATH@"
"""The name in the requests, and the path of their calls."""
HERE = Path(__file__).resolve().parent
TRIES, PAUSE = 5, 2.0
PATIENCE = 3600.0
"""Seconds for an engine to be ready, and for an answer."""


class Engine:
    """A vLLM server of its own, or a server that is there already."""

    def __init__(self, url: str, model: str, options: list[str], calls: int) -> None:
        self.url, self.calls = url, calls
        self.process: subprocess.Popen[bytes] | None = None
        if not url:
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                port = free.getsockname()[1]
            command = ["vllm", "serve", model, "--served-model-name", MODEL, "--host", "127.0.0.1", "--port", str(port)]
            self.process = subprocess.Popen([*command, *options])
            self.url = f"http://127.0.0.1:{port}/v1"
            self.wait(self.process)

    def wait(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until the server answers. Raises RuntimeError if it ends."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if process.poll() is not None:
                raise RuntimeError(f"vllm serve ended with {process.returncode}")
            try:
                urllib.request.urlopen(self.url.removesuffix("/v1") + "/health", timeout=10).close()
                return
            except OSError:
                time.sleep(1)
        raise RuntimeError("vllm serve is not ready")

    def __del__(self) -> None:
        if self.process is not None:
            self.process.terminate()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Return the replies to some requests, with their keys."""
        with ThreadPoolExecutor(self.calls) as pool:
            replies = list(pool.map(self.answer, batch["body"]))
        return {"custom_id": batch["custom_id"], "response": replies}

    def answer(self, body: str) -> str:
        """Return the reply to a request as JSON: its status, and its body as the server wrote it."""
        headers = {
            "Content-Type": "application/json",
            "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '-')}",
        }
        request = urllib.request.Request(self.url + PATH, body.encode(), headers)
        for left in reversed(range(TRIES)):
            try:
                with urllib.request.urlopen(request, timeout=PATIENCE) as reply:
                    return json.dumps({"status_code": reply.status, "body": reply.read().decode()})
            except urllib.error.HTTPError as error:
                if not left or not (error.code in (408, 429) or error.code >= 500):
                    return json.dumps({"status_code": error.code, "body": error.read().decode(errors="replace")})
            except OSError:  # no reply: an engine that has gone ends the run, which the same command begins again
                if not left:
                    raise
            time.sleep(PAUSE * (TRIES - left))
        raise AssertionError


def main() -> None:
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--url", default="")
    parser.add_argument("--model", default="", help="where the checkpoint is, if not under its name")
    parser.add_argument("--engines", type=int, default=1)
    parser.add_argument("--gpus", type=float, default=0, help="of each engine")
    parser.add_argument("--calls", type=int, default=256, help="at once to each engine")
    chosen, options = parser.parse_known_args()
    if chosen.url and chosen.model:
        parser.error("a server that is there has its model: give --model or --url")

    import ray
    from ray.data.checkpoint import CheckpointConfig

    ray.init(ignore_reinit_error=True)
    ray.data.DataContext.get_current().checkpoint_config = CheckpointConfig(
        id_column="custom_id", checkpoint_path=str(HERE / "checkpoint"), delete_checkpoint_on_success=False
    )
    requests = ray.data.read_parquet([str(path) for path in sorted(HERE.glob("part-*.parquet"))])
    arguments = {"url": chosen.url, "model": chosen.model or MODEL, "options": options, "calls": chosen.calls}
    # An engine waits for its server: where it held a processor, two of them would leave none to read and write.
    answers = requests.map_batches(
        Engine, fn_constructor_kwargs=arguments, batch_size=4 * chosen.calls, num_cpus=0, num_gpus=chosen.gpus,
        concurrency=chosen.engines,
    )  # fmt: skip
    answers.write_parquet(str(HERE / "answers"))


if __name__ == "__main__":
    main()
