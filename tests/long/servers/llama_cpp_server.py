"""llama.cpp's own HTTP server, out of a wheel, called as llama-server is: python llama_cpp_server.py -m MODEL.gguf."""

import argparse
import signal
from importlib.metadata import version

parser = argparse.ArgumentParser()
parser.add_argument("--version", action="version", version=f"version: {version('xllamacpp')}")
parser.add_argument("-m", dest="model", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("--alias", default="tiny")
given = parser.parse_args()

import xllamacpp  # noqa: E402  (seconds)

parameters = xllamacpp.CommonParams()
parameters.model.path = given.model
parameters.port = given.port
parameters.model_alias = [given.alias]
parameters.n_ctx, parameters.n_parallel = 4096, 2
parameters.warmup = False
server = xllamacpp.Server(parameters)
signal.pause()
