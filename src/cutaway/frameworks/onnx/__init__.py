"""ONNX: files and sessions as a `Model`, on ONNX Runtime for numbers and on torch for gradients."""
