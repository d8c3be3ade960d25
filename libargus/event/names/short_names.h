/* Shortens long C++ and Rust names for people. */
#ifndef ARGUS_EVENT_SHORT_NAMES_H
#define ARGUS_EVENT_SHORT_NAMES_H

#include <stddef.h>

/* Demangled names up to this length are unchanged. */
#define SHORT_NAME_BYTES 60u

/* Shortens a name from demangle() in place. As long as it is longer than SHORT_NAME_BYTES, one kind
 * of detail after the other is replaced by an ellipsis: parameter lists, then the result type, then
 * template arguments. */
void short_name(char *name);

#endif
