"""Work carried elsewhere: the shards of a run and the jobs of a sweep, on processes, Slurm or Ray."""

from __future__ import annotations

from pathlib import Path

from harness.plugin import Command, Plugin

PLUGIN = Plugin(
    name="scale",
    home=Path(__file__).parent,
    commands={"scale": Command(summary="a run in shards, by several processes", module="harness_scale.command")},
    engines={
        "processes": "harness_scale.processes:Processes",
        "slurm": "harness_scale.slurm:Slurm",
        "ray": "harness_scale.ray_tasks:RayTasks",
    },
)
