"""Exported code, one module a language.

Each module has ``source(function, **options)``, the text of one function, and what
`biela.code.export` writes files with.
"""
