"""What a run costs: prices, the plan before it is asked, the budget while it is asked, the account after it."""
