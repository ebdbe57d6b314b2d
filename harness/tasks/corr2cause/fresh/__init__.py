"""Items that no model can have seen: Corr2Cause made anew from a seed, and in matched pairs."""
