"""Explanations of conditions and failures: the cause, and what to do about it.

They are shown next to the contract's texts, which stay in the objects word for word.
"""
