"""What runs left in the forms of other programs: data sets of Hugging Face, logs of Inspect, MLflow, W&B."""
