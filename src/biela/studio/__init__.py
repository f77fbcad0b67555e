"""The interactive front door: a mechanism in the browser.

Shows a model, its motion and its results, and lets a user change and run it.

May import `biela.analysis`, `biela.results` and `biela.model`. Empty as yet.
"""
