"""The paper's figures, redrawn from what the service returned."""
