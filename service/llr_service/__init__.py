"""The service: named learners over HTTP, durable and exactly once.

One sample, from socket to disk: `routes/samples.py`, `codec/`, `sessions/session.py`, the step of
`llr`, `sessions/committer.py`, `stores/`, and `serializers.py` on the way back.
"""
