"""What tests share: real servers and programs, references, contracts, and small stand-ins."""
