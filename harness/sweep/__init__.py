"""Sweeps (-m): every job composed and checked before the first is begun, one plan, one budget, one leaderboard."""
