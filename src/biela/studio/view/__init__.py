"""The page: what viser shows of a session, one of each for every visitor.

Needs the package viser; `biela.studio` itself does not.
"""
