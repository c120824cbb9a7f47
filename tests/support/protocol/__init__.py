"""The protocol of replicas as a small model, and a search through all it can do.

Producers send numbered samples to replicas, wait or give up, and send again elsewhere. Replicas
learn ahead of the store from a copy of the session, several samples at a time. The store takes
changes in whatever order they reach it. Connections break, replicas crash, and what was on its way
may be stored at once, never, or when its sender has long gone on. The session is deleted and
created again; the store goes back to what it was. `Rules` say which precautions are taken; without
one of them the search finds a history that breaks a promise.
"""
