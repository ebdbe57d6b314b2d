"""The least that a script over the OpenAI SDK does: 64 calls at once, its aiohttp transport, no file written.

python sdk_loop.py BASE_URL PROMPTS.jsonl
"""

import asyncio
import json
import sys
from pathlib import Path

from openai import AsyncOpenAI, DefaultAioHttpClient


async def main(base_url: str, prompts: list[str]) -> list[str]:
    slots = asyncio.Semaphore(64)
    async with AsyncOpenAI(base_url=base_url, max_retries=10, http_client=DefaultAioHttpClient()) as client:

        async def ask(prompt: str) -> str:
            async with slots:
                reply = await client.chat.completions.create(
                    model="gpt-4", messages=[{"role": "user", "content": prompt}], max_tokens=16, temperature=0
                )
            return reply.choices[0].message.content or ""

        return await asyncio.gather(*map(ask, prompts))


if __name__ == "__main__":
    prompts = [json.loads(line)["prompt"] for line in Path(sys.argv[2]).read_text().splitlines()]
    answers = asyncio.run(main(sys.argv[1], prompts))
    assert len(answers) == len(prompts) and all(answers)
