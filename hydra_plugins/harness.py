"""Where Hydra looks for plugins that are installed: what `harness -m` has in place of Hydra's sweeper and launcher."""

from harness.cli.launcher import Combinations, Together

__all__ = ["Combinations", "Together"]
