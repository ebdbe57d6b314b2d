"""vLLM on a processor, as a library: it ranks Yes against No after each prompt, or writes so many tokens.

python vllm_local.py CHECKPOINT PROMPTS.jsonl TOKENS|rank

Leaves found.json: seconds of the answers alone, after a few prompts that do not count, and what was found.
"""

import json
import sys
import time
from pathlib import Path

from vllm import LLM, SamplingParams

WARM = 2


def main() -> None:
    checkpoint, prompts, what = sys.argv[1:]
    texts = [json.loads(line)["prompt"] for line in Path(prompts).read_text().splitlines()]
    llm = LLM(
        checkpoint,
        dtype="float32",
        max_model_len=8192,
        enforce_eager=True,
        enable_prefix_caching=True,
        # Of the two tokens that may come, normalised over both: the log-odds of the choices.
        logprobs_mode="processed_logprobs",
    )
    if what == "rank":
        tokenizer = llm.get_tokenizer()
        choices = {word: tokenizer(f" {word}", add_special_tokens=False)["input_ids"][0] for word in ("Yes", "No")}
        how = SamplingParams(temperature=0, max_tokens=1, logprobs=2, allowed_token_ids=list(choices.values()))
    else:
        how = SamplingParams(temperature=0, max_tokens=int(what))
    llm.generate(texts[:WARM], how, use_tqdm=False)
    llm.reset_prefix_cache()
    started = time.perf_counter()
    outputs = [answer.outputs[0] for answer in llm.generate(texts, how, use_tqdm=False)]
    seconds = time.perf_counter() - started
    if what == "rank":
        found = [{word: output.logprobs[0][token].logprob for word, token in choices.items()} for output in outputs]
    else:
        found = [{"tokens": len(output.token_ids)} for output in outputs]
    Path("found.json").write_text(json.dumps({"seconds": seconds, "found": found}))


if __name__ == "__main__":
    main()
