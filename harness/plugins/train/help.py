"""What `harness finetune --help` says."""

from __future__ import annotations

from harness.cli.help_text import group_text, settings_text
from harness.config_files import CONFIGS, listed, root_file

_FINETUNE = """\
A checkpoint trained on a task's train split, which model=nli or model=causal_lm evaluates like any other
(docs/finetuning.md)

  harness finetune recipe=roberta_large_mnli                        a row of Table 5a
  harness finetune recipe=nli recipe.path=FOLDER                    any encoder; recipe=causal_lm: any decoder
  harness finetune recipe=llama2_7b recipe.lora.r=16                low-rank adapters, merged at the end
  harness finetune recipe=bert_base task.perturbation=permutation   other names of the variables in each pass
  harness finetune recipe=openai task.limit=1000                    over an API: what it costs; submit=true does it
  harness finetune -m recipe=roberta_large recipe.learning_rate=2e-6,5e-6,1e-5 recipe.dropout=0,0.1
                                              a grid: the best point is chosen on dev
"""

_FINETUNE_REST = (
    "The settings of a job at a server: harness finetune --help recipe=openai. The task's: harness --help task=NAME."
)


def text() -> str:
    """Return the help: examples, the command's settings, the recipes and what one of them can be told."""
    recipe = settings_text("recipe", listed(CONFIGS, "recipe")["nli"], "recipe.")
    return "\n".join(
        [_FINETUNE, settings_text("finetune", root_file("finetune")), group_text("recipe"), recipe, _FINETUNE_REST]
    )
