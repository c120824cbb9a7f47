"""The paper's streams, fed to a running service: which experiments there are, and how they go."""
