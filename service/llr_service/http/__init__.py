"""The HTTP layer: middleware, authorization, bodies, responses."""
