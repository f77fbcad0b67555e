"""Results as plain arrays: kept, saved, plotted and animated.

Time histories and scenes of plain shapes. Nothing here holds a model, so a result can be opened
where the model that made it is not at hand.

May import numpy and matplotlib, and no other package of biela. Empty as yet.
"""
