"""Models of the Kubernetes objects that people and programs exchange.

One module per family of kinds, plus the constants of the API: labels, annotations, condition
types, reasons and messages. Imports nothing but pydantic and the standard library.
"""
