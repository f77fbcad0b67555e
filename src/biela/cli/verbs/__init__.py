"""The verbs of the command line: their options and their help, in the groups of the help."""
