/* Hangs drawn over the time of the trace. */
#ifndef ARGUS_REPORT_HANG_TIMELINE_H
#define ARGUS_REPORT_HANG_TIMELINE_H

#include "argus/report.h"

/* Prints one line for each hang, numbered as in the list, below a time scale; as wide as the sink,
 * or 80 columns. */
void report_hang_timeline(const struct argus_report_context *context,
                          const struct argus_hangs *hangs);

#endif
