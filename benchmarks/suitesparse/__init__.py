"""KLU and CHOLMOD of SuiteSparse, called from C with the analysis reused."""
