"""What would be sent and for how much, in words."""

from __future__ import annotations

from collections.abc import Iterator

from harness.plugins.train.examples import Examples
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.plugins.train.hosted.rows import Summary
from harness.plugins.train.hosted.terms import notes, price_of


def lines(recipe: HostedRecipe, train: Examples, file: Summary, dev: Summary | None) -> Iterator[str]:
    """Yield the lines of a plan."""
    yield f"Training file: {described(train, file)}"
    if dev is not None:
        yield f"Validation file: {dev.rows:,} rows of the dev split, about {dev.tokens:,} tokens."
    passes = {"auto": "as many passes as the server chooses", 1: "1 pass"}.get(recipe.epochs, f"{recipe.epochs} passes")
    yield f"Job: {recipe.model} at {recipe.base_url}, {passes}, seed {recipe.seed}."
    yield cost(recipe, file)
    yield from notes(recipe)


def described(train: Examples, file: Summary) -> str:
    """Return what a training file holds."""
    return (
        f"{file.rows:,} rows ({train.positives:,} Yes, {train.clusters:,} premises), {file.bytes / 1e6:,.1f} MB, about "
        f"{file.tokens:,} tokens a pass, the longest row about {file.longest:,}; SHA-256 {file.sha256[:12]}…"
    )


def cost(recipe: HostedRecipe, file: Summary) -> str:
    """Return in a sentence what the training costs, or why nobody knows."""
    price = price_of(recipe)
    if price is None:
        return f"Cost: unknown, as the price of training {recipe.model} is (recipe.price=… tells it)."
    usd, source = price
    each = f"${usd:g} per million tokens and pass; source: {source}"
    a_pass = file.tokens * usd / 1e6
    if recipe.epochs == "auto":
        return f"Cost: about {_dollars(a_pass)} for each pass, however many the server chooses ({each})."
    return f"Cost: about {_dollars(a_pass * recipe.epochs)} ({each}). Tokens are estimated; the server counts its own."


def _dollars(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 1 or not usd else f"${usd:.4f}"
