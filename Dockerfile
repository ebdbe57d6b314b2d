# The harness with what API models, baselines and the reasoner need:
#   docker build -t harness .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" -e OPENAI_API_KEY harness model=gpt4o task.limit=100
# Local models as well (torch, transformers): docker build --build-arg EXTRAS='[local,plot]' -t harness:local .
FROM python:3.12-slim
ARG EXTRAS=""
COPY . /src
RUN pip install --no-cache-dir "/src${EXTRAS}" && rm -rf /src
# results/ and .cache/ are made where the command starts: mount a folder there. HOME is writable for whoever runs it.
WORKDIR /work
ENV HOME=/tmp PYTHONUNBUFFERED=1
ENTRYPOINT ["harness"]
