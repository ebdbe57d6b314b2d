"""The theory: DAGs, d-separation, Markov equivalence and the relations of a class. No input or output.

A set of nodes is an int whose bit k stands for node k; a DAG is a tuple of parent sets.
"""
