"""What conditions and failures mean to a person: the cause, and what to do about it.

Says nothing about how things are; the contract's texts stay as they are in the objects, and this
is what is said beside them.
"""
