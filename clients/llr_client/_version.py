"""The version of this package, of the `llr` distribution and of the image."""

__version__ = "0.2.0.dev0"
