"""The models: each takes requests and hands back responses as they land."""
