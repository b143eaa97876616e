"""PTX becomes C, as far as LLVM 19 and GCC 12 write PTX; what is unknown is an error.

`syntax` reads a module, `operands` and `instructions` say what its words are in C, and `modules`
puts a module together. ptx.h holds what the C needs, and what it shares with the mock driver.
"""
