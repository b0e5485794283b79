"""What every answer is made of, whatever it is about: errors, pages of rows, Arrow, values that are fit to travel."""
