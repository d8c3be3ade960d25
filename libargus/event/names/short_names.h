/* Long names of C++ and Rust, cut to what a person reads. */
#ifndef ARGUS_EVENT_SHORT_NAMES_H
#define ARGUS_EVENT_SHORT_NAMES_H

#include <stddef.h>

/* A readable name that has at most so many bytes stays as it is. */
#define SHORT_NAME_BYTES 60u

/* Shortens a name from demangle(), in place: while it is longer than SHORT_NAME_BYTES, one kind of detail after the other is
 * replaced by an ellipsis: lists of parameters, then the result's type, then the arguments of templates. */
void short_name(char *name);

#endif
