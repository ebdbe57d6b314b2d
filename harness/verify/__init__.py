"""Results checked against their own records, and records against the task and the prompt that they name."""
