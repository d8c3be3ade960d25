/* The names contained in a trace: for tables.c and tables_finish.c. */
#ifndef ARGUS_TRACE_CODE_NAMES_H
#define ARGUS_TRACE_CODE_NAMES_H

#include "trace/cursor.h"
#include "trace/reader.h"

/* Takes one entry of a NAMES chunk; false: it is malformed or cut off, or memory ran out. */
bool take_name(struct cursor *cursor, struct trace_tables *tables);

/* The same for an entry of an INLINED chunk. */
bool take_inlined(struct cursor *cursor, struct trace_tables *tables);

/* Sorts owners and names. Of several names for the same place and time, keeps the one written last.
 * False without memory. */
bool names_finish(struct trace_tables *tables);

#endif
