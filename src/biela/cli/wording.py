"""What the analyses advise, in the words of the command line and of model files.

Their messages speak to a Python program: ``q=…`` is ``--q`` here, and ``start(…)`` is a line of the
file unless the file is a program itself.
"""

from __future__ import annotations

from typing import Final

#: Arguments of functions, and the options that give them.
_OPTIONS: Final = (
    ("or q=…", "or --q NAME=VALUE"),
    ("guess q=…", "guess --q NAME=VALUE"),
    ("drives={…: law}, or accelerations={…: law}", "--drive NAME=LAW"),
    ("drives={…: law}", "--drive NAME=LAW"),
    ("give step=…, in s", "give --step, in s"),
    ("or pass parameters={...}", "or --set NAME=VALUE"),
)
#: What a program calls, and what a model file has instead.
_FILES: Final = (
    ("start(…)", "start = … in [joints.NAME]"),
    (
        "give the bodies mass=… or density=…, those that only turn about their origin inertia=… or "
        "com=…, the parameters in them values,",
        "write mass = … in [bodies.NAME], inertia = … or com = … too where it only turns about its "
        "origin,",
    ),
    ("model.driver(…), model.force(…)", "[drivers.NAME], [forces.NAME]"),
    ("add one with body(…)", "add one with [bodies.NAME]"),
)


def said(message: str, program: bool) -> str:
    """A message in the words of the command line; ``program`` if the model is a Python file.

    >>> said("give a better first guess with start(…) or q=…", program=False)
    'give a better first guess with start = … in [joints.NAME] or --q NAME=VALUE'
    """
    for theirs, ours in _OPTIONS if program else (*_OPTIONS, *_FILES):
        message = message.replace(theirs, ours)
    return message
