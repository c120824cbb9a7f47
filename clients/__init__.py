"""What people use: the command line, and soon the SDK, the replay and the figures."""
