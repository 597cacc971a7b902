"""Hidden Markov models: decoding, training, and files of models."""
