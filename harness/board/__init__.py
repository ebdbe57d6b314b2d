"""The leaderboard's tables: described once, drawn as Markdown, CSV, JSON, LaTeX or HTML."""
