"""What prompts have in common at their beginning goes through a model once."""
