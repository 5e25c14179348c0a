"""The objects that people and programs exchange, as models.

One module a family, plus the constants of the API: labels, annotations, condition
types, reasons and messages. Imports nothing but pydantic and the standard library.
"""
