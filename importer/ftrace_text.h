/* One line of ftrace's text, for the formats that contain it. */
#ifndef ARGUS_IMPORTER_FTRACE_TEXT_H
#define ARGUS_IMPORTER_FTRACE_TEXT_H

#include "import_sink.h"
#include "kernel_events.h"

/* Puts what the line tells into the sink; other lines are ignored. The line is changed. Returns
 * whether it is the line of an event, used or not. */
bool ftrace_text_take_line(struct kernel_events *events, struct sink *sink, char *line);

#endif
