"""What counts as a secret, and how it is kept out of everything that is written.

:mod:`names` and :mod:`shapes` are the one list: by the name that a value has, and by its form.
:mod:`finding` applies the list to headers, URLs, content and command lines. :mod:`known` replaces
values that a command has been given, wherever they appear in its output.
"""
