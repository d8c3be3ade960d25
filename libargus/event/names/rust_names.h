/* Names of Rust as people write them: the two forms in which rustc writes symbols. */
#ifndef ARGUS_EVENT_RUST_NAMES_H
#define ARGUS_EVENT_RUST_NAMES_H

/* The readable form of a symbol of the form v0 ("_RNvCs…", RFC 2603), from malloc(); NULL when it is none, is damaged, or has
 * constants that are no numbers, or without memory. */
char *rust_demangle(const char *symbol);

/* What a C++ demangler made of a symbol of the older form ("_ZN…17h…E"): takes the hash at its end away, and writes the characters
 * that were spelt out ("$LT$", ".."). In place; nothing happens to a name of C++. */
void rust_undo_legacy(char *name);

#endif
