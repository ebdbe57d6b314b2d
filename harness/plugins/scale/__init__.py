"""Work carried elsewhere: the jobs of a sweep and the shards of a run, on processes, Slurm or Ray."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Plugin

PLUGIN = Plugin(
    name="scale",
    home=Path(__file__).parent,
    engines={
        "parallel": "harness.plugins.scale.processes:Parallel",
        "processes": "harness.plugins.scale.processes:Processes",
        "slurm": "harness.plugins.scale.slurm:Slurm",
        "ray": "harness.plugins.scale.ray_tasks:RayTasks",
    },
    dispatch="harness.plugins.scale.dispatch",
)
