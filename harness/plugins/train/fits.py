"""Whether the examples fit into the model: what is cut is counted, what is lost is refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.errors import ConfigError
from harness.plugins.train.examples import Example, Lessons
from harness.plugins.train.learners import Fit, Learner
from harness.plugins.train.recipe import Recipe
from harness.runtime.progress import Progress

AT_ONCE = 2048
"""Examples whose tokens are in memory while they are counted."""


def fits_of(learner: Learner, examples: Sequence[Example]) -> Iterator[Fit]:
    """Yield how each example fits, with the tokens of few in memory at once."""
    for start in range(0, len(examples), AT_ONCE):
        yield from learner.fits(examples[start : start + AT_ONCE])


def fit_counts(learner: Learner, lessons: Lessons, recipe: Recipe, progress: Progress) -> dict[str, dict[str, int]]:
    """Say how many premises are cut, drop or refuse what does not fit; return the counts."""
    rows = lessons.train.rows
    cut: set[str] = set()
    lessons.lengths.clear()
    dropped: set[int] = set()
    lost, longest, problem = 0, 0, ""
    for place, (example, fit) in enumerate(zip(rows, fits_of(learner, rows), strict=True)):
        longest = max(longest, fit.length)
        if not fit.problem:
            lessons.lengths.append(fit.length)
        lost += fit.hypothesis_cut
        cut |= {example.cluster} if fit.premise_cut else set()
        if fit.problem:
            dropped.add(place)
            problem = fit.problem
    told = f"of {lessons.train.clusters:,} premises {len(cut):,} are cut to what {learner.path} takes"
    if lost and recipe.settings != "paper":
        raise ConfigError(
            f"{lost:,} of {len(rows):,} examples would lose the end of their hypothesis and keep their label ({told}): "
            "use prompt=pair, which cuts premises only, or recipe.settings=paper to do as the authors' code did."
        )
    if dropped and (recipe.too_long == "refuse" or len(dropped) == len(rows)):
        raise ConfigError(
            f"{len(dropped):,} of {len(rows):,} examples do not fit into {learner.path} (such as: {problem}): "
            "recipe.too_long=drop leaves them out, task.num_nodes=[4,5] takes short ones, or choose another base."
        )
    lessons.left_out.update(dropped)
    if cut:
        progress.say(f"{told}{f'; {lost:,} of {len(rows):,} examples lose their hypothesis' if lost else ''}.")
    if dropped:
        progress.say(f"{len(dropped):,} examples are left out, as they do not fit ({problem}).")
    counts = {"premises_cut": len(cut), "hypotheses_cut": lost, "dropped": len(dropped), "longest_in_tokens": longest}
    return {"fit": counts}
