"""What people would use instead, each as a process of its own that takes its turn when told to."""
