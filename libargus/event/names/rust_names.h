/* Demangles Rust names: the two forms in which rustc writes symbols. */
#ifndef ARGUS_EVENT_RUST_NAMES_H
#define ARGUS_EVENT_RUST_NAMES_H

/* The demangled form of a v0 symbol ("_RNvCs…", RFC 2603), from malloc(). NULL if it is not one, is
 * malformed, has constants other than numbers, or without memory. */
char *rust_demangle(const char *symbol);

/* Completes a C++ demangler's output for a symbol of the legacy form ("_ZN…17h…E"): removes the
 * hash at its end and replaces spelt-out characters ("$LT$", ".."). In place; C++ names are
 * unchanged. */
void rust_undo_legacy(char *name);

#endif
