"""maskov (mask + Markov): what a masked predictor is as a random process."""

__version__ = "0.1.0"
