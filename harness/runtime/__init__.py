"""What a command does besides its work: signals, progress, streams, what is written for people, keys kept out of it."""
