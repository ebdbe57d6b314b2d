#!/bin/sh
# Answers the requests of this folder with vLLM, a part at a time, into answers/. What is answered stays: the same
# command goes on.
#
#   sh driver.sh [--model CHECKPOINT] [OPTION OF vllm run-batch …]
#
# Without --model the checkpoint is the name in the requests. On several machines that share the folder, each with its own
# number: SHARD=0 SHARDS=4 sh driver.sh. Tasks of a Slurm array and pods of an Indexed Job (with SHARDS) have one already.
# Then: harness cache import answers/
set -eu
here=$(dirname "$0")
usage="sh driver.sh [--model CHECKPOINT] [OPTION OF vllm run-batch …]"
checkpoint=@MODEL@
case "${1:---}" in
  --model) checkpoint=${2:?"$usage"}; shift 2 ;;
  --model=*) checkpoint=${1#--model=}; shift ;;
  -*) ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
shards=${SHARDS:-${SLURM_ARRAY_TASK_COUNT:-1}}
shard=$((${SHARD:-${SLURM_ARRAY_TASK_ID:-${JOB_COMPLETION_INDEX:-0}}} % shards))
mkdir -p "$here/answers"
number=0
for part in "$here"/part-*.jsonl; do
  turn=$((number % shards))
  number=$((number + 1))
  done="$here/answers/$(basename "$part")"
  if [ "$turn" -ne "$shard" ] || [ -e "$done" ]; then continue; fi
  # Under another name until it is whole: import would take what is there for all of it.
  ${VLLM:-vllm} run-batch -i "$part" -o "$done.partial" --model "$checkpoint" --served-model-name @MODEL@ "$@"
  mv "$done.partial" "$done"
done
