"""The command `llr`: serve, push, replay, figures, demo and the rest."""
