"""Models that torch runs on this machine: causal language models, masked ones, NLI encoders."""
