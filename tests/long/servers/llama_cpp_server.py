"""llama.cpp's own HTTP server, out of the wheel xllamacpp, called as llama-server is."""

import argparse
import signal

parser = argparse.ArgumentParser()
parser.add_argument("-m", dest="model", required=True)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8080)
parser.add_argument("--alias", default="tiny")
parser.add_argument("-c", dest="context", type=int, default=8192)
parser.add_argument("-np", dest="slots", type=int, default=4)
parser.add_argument("-t", dest="threads", type=int, default=-1)
given = parser.parse_args()

import xllamacpp  # noqa: E402  (seconds)

parameters = xllamacpp.CommonParams()
parameters.model.path = given.model
parameters.port = given.port
parameters.model_alias = [given.alias]
parameters.n_ctx, parameters.n_parallel = given.context, given.slots
parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = given.threads
parameters.warmup = False
server = xllamacpp.Server(parameters)
signal.pause()
