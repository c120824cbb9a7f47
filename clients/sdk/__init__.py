"""The SDK: `Client` and `AsyncClient` over one set of talks, which do no input or output."""
