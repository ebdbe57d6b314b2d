"""The text of --help, read from the config and prompt files without importing anything heavy."""

from __future__ import annotations

from pathlib import Path

from harness.settings import CONFIGS, listed, prompt_files

_MAIN = """\
harness: can language models reason about cause and effect?

  python -m harness                                     the exact reasoner on the public Corr2Cause test split
  python -m harness model=gpt4 task=corr2cause          an API model (export OPENAI_API_KEY=… first)
  python -m harness model=openai model.model=NAME model.base_url=http://localhost:8000/v1
  python -m harness model=gpt4o answer=choice           the server holds each reply to Yes or No: no words are read
  python -m harness model=gpt4o model.method=rank       the probabilities of Yes and No: AUROC, Brier score, …
  python -m harness model=roberta_mnli task.limit=100   a zero-shot NLI model on a stratified sample
  python -m harness model=causal_lm model.path=FOLDER   a local language model
  python -m harness model=gpt4 judge=gpt4o              a judge reads the replies in which the rules find no answer
  python -m harness -m model=always_no,random_uniform task.perturbation=none,paraphrase
                                                        a sweep: every combination, one leaderboard

  python -m harness model=gpt4_0613 task=causalbench/causality task.networks=[asia,cancer]
                                                        the other benchmark: does one variable cause another?
  python -m harness.discover algorithm=hc network=asia  a classical algorithm on sampled data, scored alike

  python -m harness.leaderboard                         the leaderboard of everything below results/
  python -m harness.leaderboard preset=4                a table of the papers, with what was measured; preset= lists all
  python -m harness.report results                      one page for people: scores, charts, and the answers behind them
  python -m harness.plot results chart=scores,heat      figures for a paper: PDF, SVG, PNG
  python -m harness.compare FOLDER FOLDER               two runs item by item: difference, interval, tests
  python -m harness.published table=4                   what the papers print, with intervals where counts are known
  python -m harness.verify                              every score again from its records, every digest checked
  python -m harness.reread                              stored replies read again by today's rules, no model asked
  python -m harness.export results to=csv               for other programs: csv, parquet, hf, inspect, eee, lm_eval
  python -m harness.items task=corr2cause out=F.jsonl   the items, for your own tools
  python -m harness.cache stats                         the stored answers; also export, import, prune, verify
  python -m harness.published table=1                   Tables 1 and 3 of the Corr2Cause paper, measured

A run goes on where it was stopped: answers are stored as they land and asked for once. Settings of your own:
configs/<group>/<name>.yaml and prompts/<task>/<name>.yaml in the working directory are found as well.
"""

_ITEMS = """\
The items of a task as JSON lines: id, the fields that prompts may say (premise, question, …), label, labels, groups,
cluster

  python -m harness.items task=corr2cause out=items.jsonl
  python -m harness.items task=corr2cause task.split=train task.limit=1000 out=-
  python -m harness.items task=causalbench/causality task.networks=asia out=asia.jsonl
"""


_DISCOVER = """\
Classical causal discovery on data sampled from the networks, scored as the language models are.

  python -m harness.discover algorithm=hc network=asia samples=500
  python -m harness.discover -m algorithm=pc,hc,mmhc network=asia,sachs,alarm,insurance samples=500,1500
  python -m harness.discover -m algorithm=hc network=asia seed=0,1,2,3,4     several seeds give an interval
  python -m harness.discover algorithm=mmhc network=null                     the paper's fourteen networks in one row
"""


def help_of(config_name: str) -> str:
    """Return the help of a command."""
    if config_name == "discover":
        settings = _settings("discover", CONFIGS / "discover.yaml")
        algorithms = (
            _settings(f"algorithm {name}", file, "algorithm.") for name, file in listed(CONFIGS, "algorithm").items()
        )
        return "\n".join([_DISCOVER, settings, _group("algorithm"), *algorithms])
    if config_name == "items":
        return "\n".join([_ITEMS, _settings("items", CONFIGS / "items.yaml"), _group("task"), *_tasks()])
    prompts = (_list(f"prompt=  (task {task})", prompt_files(task)) for task in listed(CONFIGS, "task"))
    sections = [
        _MAIN,
        _group("model"),
        _group("task"),
        *prompts,
        _group("cache"),
        _settings("config", CONFIGS / "config.yaml"),
        _settings("cache", CONFIGS / "cache" / "on.yaml", "cache."),
        *_tasks(),
    ]
    sections.append(
        "A model's settings, and as judge.…= those of a judge (judge= takes what model= takes): its file in "
        "configs/model/, or --cfg job with it. Hydra's own flags: --hydra-help."
    )
    return "\n".join(sections)


def _group(group: str) -> str:
    return _list(f"{group}=", listed(CONFIGS, group))


def _list(title: str, files: dict[str, Path]) -> str:
    width = max(map(len, files), default=0)
    lines = [f"  {name:<{width}}  {_first_comment(file)}" for name, file in files.items()]
    return "\n".join([title, *lines, ""])


def _tasks() -> list[str]:
    return [_settings(f"task {name}", file, "task.") for name, file in listed(CONFIGS, "task").items()]


def _settings(title: str, file: Path, prefix: str = "") -> str:
    """Return the settings of a config file, from its lines `name: value  # comment`."""
    lines: list[tuple[str, str]] = []
    above = ""
    for line in file.read_text(encoding="utf-8").partition("\nhydra:")[0].splitlines():
        name, colon, rest = line.partition(":")
        value, hash_, comment = rest.partition("#")
        if not line.startswith(" "):
            above = name
        if colon and hash_ and name.strip() not in ("_target_", "name", "defaults"):
            full = f"{above}.{name.strip()}" if line.startswith(" ") else name
            lines.append((f"{prefix}{full}={value.strip()}", comment.strip()))
    width = max((len(setting) for setting, _ in lines), default=0)
    return "\n".join([f"settings of {title}", *(f"  {setting:<{width}}  {comment}" for setting, comment in lines), ""])


def _first_comment(file: Path) -> str:
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("#").strip() if first.startswith("#") else ""
