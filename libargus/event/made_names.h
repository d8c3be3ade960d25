/* Names of code made at run time, as its makers write them: with the source file in the same text. */
#ifndef ARGUS_EVENT_MADE_NAMES_H
#define ARGUS_EVENT_MADE_NAMES_H

#include "argus/trace.h"
#include "base/strtab.h"

/* Splits `text` into function, source file and line, as far as it has them; else all of it is the function. Strings are put into
 * `texts`. Function, source and line of `ret` are set. */
struct argus_error *made_name_read(const char *text, struct strtab *texts,
                                   struct argus_name_entry *ret);

#endif
