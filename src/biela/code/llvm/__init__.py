"""Native code through LLVM: the host, the IR of elementary functions, entries from Python."""
