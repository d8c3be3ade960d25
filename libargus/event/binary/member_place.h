/* Reads "app->net->state" by a file's debug information. */
#ifndef ARGUS_EVENT_MEMBER_PLACE_H
#define ARGUS_EVENT_MEMBER_PLACE_H

#include <elfutils/libdwfl.h>

#include "argus/data_symbols.h"

/* Rewrites `text` with offsets instead of members. NOT_FOUND: there is no such variable or member;
 * the message names the members that there are. UNSUPPORTED: the types are not known. `file` is for
 * messages. */
struct argus_error *member_place_read(Dwfl_Module *module, const char *file, const char *text,
                                      struct argus_data_place *ret);

#endif
