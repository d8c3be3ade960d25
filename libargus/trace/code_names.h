/* The names that a trace brings along: for tables.c and tables_finish.c. */
#ifndef ARGUS_TRACE_CODE_NAMES_H
#define ARGUS_TRACE_CODE_NAMES_H

#include "trace/cursor.h"
#include "trace/reader.h"

/* Takes one entry of a NAMES chunk; false: it is wrong or cut off, or there was no memory. */
bool take_name(struct cursor *cursor, struct trace_tables *tables);

/* Sorts the owners and the names, and keeps the last one written of each place and time. False without memory. */
bool names_finish(struct trace_tables *tables);

#endif
