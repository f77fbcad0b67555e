"""Trees, loops and orderings: everything that is about integers.

Spanning trees and fundamental loops of a mechanism, maximum matchings, strong components,
fill-reducing orderings and elimination trees. Nothing here knows what a body or an equation is: a
graph is arrays of integers in, arrays of integers out.

May import numpy and numba, and no other package of biela. Empty as yet.
"""
