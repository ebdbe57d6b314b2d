"""What a command needs besides its work: signals, progress, output, the environment, keys kept out of it all."""
