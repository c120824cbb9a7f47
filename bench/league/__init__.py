"""Who has how much regret: the streams, the learners that run over them, the scores, the report."""
