"""The version of this package, of the `llr` distribution and of the image."""

__version__ = "0.1.0"
