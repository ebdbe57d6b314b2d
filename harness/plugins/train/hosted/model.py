"""The configuration of the model that a job has made: what harness model=NAME evaluates."""

from __future__ import annotations

import json
from pathlib import Path

from harness.config_files import CONFIGS, own_folder
from harness.errors import StoreError
from harness.plugins.train.hosted.recipe import HostedRecipe
from harness.plugins.train.hosted.terms import provider_at

_OPENAI, _KEY = "https://api.openai.com/v1", "OPENAI_API_KEY"


def config_text(recipe: HostedRecipe, name: str, model: str) -> str:
    """Return the configuration of a fine-tuned model."""
    lines = [f"# {recipe.model}, fine-tuned: training.json beside the job's model.yaml says on what"]
    if provider_at(recipe.base_url)[1].deploys:
        lines.append("# Deploy it first: `model` is then the deployment's name.")
    lines += [f"defaults: [{_base(recipe)}, _self_]", f"name: {name}", f"model: {json.dumps(model)}"]
    lines.append(f"base_url: {json.dumps(recipe.base_url)}")
    if recipe.api_key_env != _KEY:
        lines.append(f"api_key_env: {json.dumps(recipe.api_key_env)}")
    return "\n".join([*lines, ""])


def configured(name: str, text: str) -> bool:
    """Put a configuration into ./configs/model/ unless one is there; return whether model=NAME finds it.

    In a checkout ./configs is what ships, and is left as it is. Raises StoreError.
    """
    if Path("configs").is_dir() and own_folder(CONFIGS) is None:
        return False
    place = Path("configs", "model", f"{name}.yaml")
    try:
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StoreError(f"{place} cannot be written ({error.strerror}): model.yaml beside training.json is it.") from (
            error
        )
    return True


def command(recipe: HostedRecipe, name: str, model: str, prompt: str, *, found: bool) -> str:
    """Return the command that evaluates the model."""
    words = f"harness model={name}"
    if not found:
        words = f"harness model={_base(recipe)} model.model={model} model.name={name}"
        words += f" model.base_url={recipe.base_url}" if recipe.base_url.rstrip("/") != _OPENAI else ""
        words += f" model.api_key_env={recipe.api_key_env or 'null'}" if recipe.api_key_env != _KEY else ""
    words += "" if prompt == "plain" else f" prompt={prompt}"
    return words + " task.unreadable=no" * (recipe.settings == "paper")


def _base(recipe: HostedRecipe) -> str:
    return "openai_completions" if recipe.settings == "paper" else "openai"
