"""`python -m harness …` in processes of their own, forked from one that has imported what they import.

Folder, environment, output, signals and exit code are those of a user's process. Four things are not, and tests of
these start a fresh one: what is imported and known when the command begins, the seed of hashes, which all forks share,
that nothing is said of how far a command is, and that Python does not take itself apart in the end.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import math
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import IO, Any

EVERY = (
    "hydra", "hydra.core.plugins", "numpy", "aiohttp", "filelock",
    "harness.cache.__main__", "harness.compare.comparison", "harness.compare.tables",
    "harness.items", "harness.leaderboard.__main__", "harness.models.baselines",
    "harness.models.api.openai",
    "harness.tasks.corr2cause.reasoner", "harness.cost.plan", "harness.cost.ledger", "harness.run",
    "harness.sweep.carry_out", "harness.sweep.plan",
    "harness.tasks.causalbench.task", "harness.tasks.corr2cause.task", "harness.verify.__main__", "scipy.stats",
)  # fmt: skip
LOCAL = (
    *EVERY, "torch", "transformers", "transformers.models.auto.modeling_auto", "transformers.generation.utils",
    "transformers.models.bert.modeling_bert", "transformers.models.gpt2.modeling_gpt2", "harness.models.local.nli",
    "harness.models.local.causal_lm",
)  # fmt: skip
"""What commands with a local checkpoint import: seconds, and more to fork."""
CORE = tuple(name for name in EVERY if not name.startswith("scipy."))
"""What is imported where the path of modules is a test's own, which may have no plug-ins."""


class Command:
    """A command that has been started; its methods are those of subprocess.Popen."""

    def __init__(self, module: str, arguments: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.args = [sys.executable, "-m", module, *arguments]
        self.returncode: int | None = None
        self._output = tempfile.TemporaryFile(), tempfile.TemporaryFile()  # noqa: SIM115
        self._reply, theirs = socket.socketpair()
        with theirs, tempfile.TemporaryFile() as input_file:
            input_file.write(json.dumps([module, list(arguments), str(cwd), dict(env)]).encode())
            input_file.flush()
            files = [input_file.fileno(), *(file.fileno() for file in self._output), theirs.fileno()]
            path = env.get("PYTHONPATH", "")
            usual = LOCAL if _is_local(arguments) else EVERY
            modules = usual if path == os.environ.get("PYTHONPATH", "") else CORE
            socket.send_fds(_server(modules, path), [b"."], files)
        self.pid = int(self._line())

    def poll(self) -> int | None:
        """Return the exit code, minus the signal's number if it was killed; None while it runs."""
        if self.returncode is None and select.select([self._reply], [], [], 0)[0]:
            self.returncode = int(self._line())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            if not select.select([self._reply], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            self.returncode = int(self._line())
        return self.returncode

    @property
    def output(self) -> str:
        """What it has written to stderr so far."""
        return self._text(self._output[1])

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end; return what it wrote to stdout and to stderr."""
        self.wait(timeout)
        return self._text(self._output[0]), self._text(self._output[1])

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _line(self) -> str:
        line = b""
        while not line.endswith(b"\n"):
            if not (part := self._reply.recv(1)):
                raise RuntimeError(f"the process that forks {self.args} has ended; its stderr says why")
            line += part
        return line.decode()

    @staticmethod
    def _text(file: IO[bytes]) -> str:
        # Without moving the place in the file, which is that of the command too.
        return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode()


def run(
    module: str, arguments: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run a command in a fork, like subprocess.run(..., capture_output=True, text=True)."""
    command = Command(module, arguments, cwd, env)
    try:
        output = command.communicate(timeout)
    except subprocess.TimeoutExpired:
        command.kill()
        raise
    return subprocess.CompletedProcess(command.args, command.wait(), *output)


def _is_local(arguments: Sequence[str]) -> bool:
    paths = (argument.partition("=")[2] for argument in arguments if argument.startswith("model.path="))
    return any(Path(path).is_dir() for path in paths)


@cache
def _server(modules: tuple[str, ...], path: str) -> socket.socket:
    """Return a connection to a process that forks commands as long as any process holds it.

    `path` is its PYTHONPATH, so that a command's modules are those that a process of its own would import.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, __file__, str(theirs.fileno()), *modules],
            pass_fds=[theirs.fileno()],
            env=os.environ | {"PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    return ours


def silence_remarks() -> None:
    """Keep commands of this process from saying how far they are, which goes by the clock, unless a test asks."""
    from harness.prompting import conversation
    from harness.runtime import progress

    progress.EVERY = conversation.SLOW = math.inf


def ask_once() -> None:
    """Have this process and its forks ask git once what they are made of, and not for every run."""
    from harness.storage import manifest

    manifest._checkout = cache(manifest._checkout)


def parse_once() -> None:
    """Have this process and its forks parse equal texts of YAML and of OmegaConf's grammar once: half of composing."""
    import omegaconf
    from omegaconf import OmegaConf, _utils, base

    from harness.cli import own_configs

    own_configs.settings_in = lru_cache(512)(own_configs.settings_in)
    load = OmegaConf.load
    content = lru_cache(512)(lambda text: OmegaConf.to_container(load(io.StringIO(text))))

    def load_once(file: Any) -> Any:
        if not hasattr(file, "read"):
            return load(file)
        text = file.read()
        try:
            return OmegaConf.create(content(text))
        except Exception:  # which is to name the file
            file.seek(0)
            return load(file)

    omegaconf.OmegaConf.load = staticmethod(load_once)  # type: ignore[method-assign,assignment]
    _utils.parse = base.parse = lru_cache(4096)(base.parse)  # type: ignore[assignment]


def serve(orders: socket.socket) -> tuple[str, str] | None:
    """Fork a command for every order; return its module and folder in the fork, None once orders end."""
    for number in (signal.SIGINT, signal.SIGHUP):  # the terminal sends them to the whole group
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those who wait
    while files := socket.recv_fds(orders, 1, 4)[1]:
        input_file, out, err, reply = files
        if os.fork():
            for file in files:
                os.close(file)
            continue
        orders.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if pid := os.fork():  # its parent tells how it ends
            os.write(reply, f"{pid}\n".encode())
            os.write(reply, f"{os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])}\n".encode())
            os._exit(0)
        os.close(reply)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.dup2(out, 1)
        os.dup2(err, 2)
        module, arguments, folder, environment = json.loads(os.pread(input_file, os.fstat(input_file).st_size, 0))
        for file in (input_file, out, err):
            os.close(file)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv[1:] = arguments
        return module, folder
    return None


def end(leaving: SystemExit) -> None:
    """End this process as Python does, but take nothing apart: it would copy every page, half of a short command."""
    if not isinstance(leaving.code, int):
        raise leaving
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(leaving.code)


if __name__ == "__main__":
    gc.disable()  # until all is imported that stays
    sys.path.pop(0)  # where -m has the working directory
    silence_remarks()
    ask_once()
    parse_once()
    for name in sys.argv[2:]:
        importlib.import_module(name)
    from hydra.core.plugins import Plugins

    from harness.__main__ import run_one
    from harness.cli.hydra_app import composed
    from harness.errors import HarnessError

    Plugins.instance()
    path = sys.path[:]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.redirect_stderr(io.StringIO()),
    ):
        composed("config", ["model=gpt4", "model.name='a b'", "task.limit=5"])  # its parser learns as it reads
        # What a process imports, compiles and looks up once, in a run that is scored and in one that calls a server.
        run_one(composed("config", ["model=always_no", "task.limit=40", "cache=off", f"results={folder}"]), brief=True)
        called = ["model=gpt4", "model.base_url=http://127.0.0.1:9", "model.api_key_env=null", "model.attempts=1"]
        with contextlib.suppress(HarnessError):  # nobody listens there
            run_one(composed("config", [*called, "task.limit=1", "cache=off", f"results={folder}"]), brief=True)
    sys.path[:] = path
    gc.collect()
    gc.freeze()  # or a collection in a fork would copy every page
    gc.enable()
    if (order := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        sys.path.insert(0, order[1])
        sys.modules.pop(order[0] if order[0] != "harness" else "", None)  # runpy warns of a module that was imported
        sys.modules.pop(f"{order[0]}.__main__", None)
        try:
            runpy.run_module(order[0], run_name="__main__", alter_sys=True)
        except SystemExit as leaving:
            end(leaving)
