"""Simulated motions against closed forms and published figures.

`problems` says what is run and what is known of it, `references` computes what is known, and
`measurements` what is measured; ``python -m benchmarks.validation`` writes the page of the site.
"""
