"""Learners in the shape of other libraries. Each module needs its library; `llr` itself needs none.

| module | gives | needs |
|---|---|---|
| `llr.compat.sklearn` | `LLRRegressor`, `LLRClassifier` for pipelines and searches | scikit-learn |
| `llr.compat.river` | `LLRRegressor`, `LLRClassifier` over named features | river |
| `llr.compat.narwhals` | frames of pandas, polars and pyarrow by column name | narwhals |
| `llr.compat.onnx` | `to_onnx`, a learner as an ONNX model | onnx |
| `llr.compat.flink` | `KeyedLearner`, a learner a key in Flink's state | PyFlink |
| `llr.compat.keyed` | `Step`, a pure function of bytes for Flink, Spark and the like | nothing |

`pip install "llr[compat]"` installs scikit-learn and river, `"llr[frames]"` narwhals and
`"llr[onnx]"` onnx.
"""
