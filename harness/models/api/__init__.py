"""Models behind HTTP: two endpoints of any OpenAI-compatible server, and how calls go out, fail and are tried again."""
