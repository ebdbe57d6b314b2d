"""From a command line to a job: Hydra for runs, key=value for the small commands, and the help of both."""
