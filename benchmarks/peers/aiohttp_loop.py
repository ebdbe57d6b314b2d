"""What a careful person writes without any SDK: aiohttp, 64 calls at once, one JSON line for each answer.

python aiohttp_loop.py BASE_URL PROMPTS.jsonl
"""

import asyncio
import json
import os
import sys
from pathlib import Path

import aiohttp


async def main(base_url: str, prompts: list[str]) -> int:
    slots, written = asyncio.Semaphore(64), 0
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    with Path("answers.jsonl").open("w") as file:
        async with aiohttp.ClientSession(headers=headers) as session:

            async def ask(prompt: str) -> None:
                nonlocal written
                messages = [{"role": "user", "content": prompt}]
                body = {"model": "gpt-4", "messages": messages, "max_tokens": 16, "temperature": 0}
                async with slots, session.post(f"{base_url}/chat/completions", json=body) as reply:
                    reply.raise_for_status()
                    said = await reply.json()
                answer = said["choices"][0]["message"]["content"]
                file.write(json.dumps({"prompt": prompt, "answer": answer, "usage": said["usage"]}) + "\n")
                written += 1

            await asyncio.gather(*map(ask, prompts))
    return written


if __name__ == "__main__":
    prompts = [json.loads(line)["prompt"] for line in Path(sys.argv[2]).read_text().splitlines()]
    assert asyncio.run(main(sys.argv[1], prompts)) == len(prompts)
