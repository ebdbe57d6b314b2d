"""One table, and what draws it: Markdown, CSV, JSON, LaTeX, HTML, a terminal."""
