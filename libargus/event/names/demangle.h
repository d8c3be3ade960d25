/* Names of C++ and Rust as people write them. */
#ifndef ARGUS_EVENT_DEMANGLE_H
#define ARGUS_EVENT_DEMANGLE_H

/* The readable form of a symbol, from malloc(); NULL when `symbol` is not a mangled name (then it is readable). */
char *demangle(const char *symbol);

#endif
