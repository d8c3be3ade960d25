/* Demangles names of C++ and Rust. */
#ifndef ARGUS_EVENT_DEMANGLE_H
#define ARGUS_EVENT_DEMANGLE_H

/* The demangled form of a symbol, from malloc(); NULL if `symbol` is not mangled. */
char *demangle(const char *symbol);

#endif
