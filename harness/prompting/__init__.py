"""The words of a question: prompt files, the requests they make, openings that models answer, how replies are read."""
