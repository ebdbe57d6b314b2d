"""The leaderboard: measured runs beside the papers' numbers, and the papers' own tables as presets."""
