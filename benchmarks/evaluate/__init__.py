"""What evaluating costs, beside the bare framework's prediction."""
