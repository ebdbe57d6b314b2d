"""Another model that reads the replies in which the rules find no verdict (judge=…)."""
