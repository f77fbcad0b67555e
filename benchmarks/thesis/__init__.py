"""The published comparison of symbolic methods (Plaza 2015, ch. 6) on our own code.

Four mechanisms are derived by one text, `derivation`, on several algebras:

- A: atoms found by searching the whole table; derivatives and substitutions of the expanded form;
- B: atoms found by hashing; derivatives and substitutions of the expanded form;
- C: biela: atoms found by hashing, derivatives and substitutions on the atoms;
- C on SymPy: the method of C with the engine of A and B, to tell method from engine;
- C.1: no atoms; SymPy expressions, and common subexpressions sought at the end.
"""
