"""Measurements of speed and of regret: `python -m bench`.

A question is a file. Those of RESULTS.md: `learning`, `kernels`, `sockets`, `http`, `postgres`,
`replicas`, `growth`, `profile`; by themselves: `decode`, `drift`, `regret`.
"""
