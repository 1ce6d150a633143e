"""What fits return: draws, ready for prediction."""
