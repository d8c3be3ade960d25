/* Traces of other tools, which every command takes in place of an .argus file. `argus-import
 * --formats` lists them: perf.data, trace.dat, CTF, Perfetto, and ftrace's text, also in systrace's
 * pages, atrace -z and Chrome's JSON.
 *
 * argus-import, a program of its own (importer/import_main.c), writes such a trace as an .argus
 * file. The file is kept in the user's cache, so that only the first command on a trace has to wait
 * for that. Inside a debugger no foreign code is loaded by this, and a trace that ends the importer
 * ends nothing else.
 */
#ifndef ARGUS_PLUGIN_FOREIGN_TRACE_H
#define ARGUS_PLUGIN_FOREIGN_TRACE_H

#include "argus/trace.h"
#include "plugin/session.h"

/* Size limit of the imported traces in the user's cache; the oldest are deleted. */
#define FOREIGN_TRACE_MOST_BYTES (4ull << 30)

/* Opens the file or folder `path`, which is no .argus file, by importing it. `refused` is the error
 * of argus_trace_open(): it is returned if the format is unknown, and destroyed otherwise. */
struct argus_error *foreign_trace_open(struct session *session, const char *path,
                                       struct argus_error *refused, struct argus_trace **ret);

/* Writes the file or folder `path` as an .argus file into `fd`, without names of functions.
 * `*ret_known`: false if the format is unknown; then nothing was written, and that is no error. An
 * interrupted session ends the importer, which is an error. */
struct argus_error *foreign_trace_import(struct session *session, const char *path, int fd,
                                         bool *ret_known);

/* Completes an imported file: unwinds copied stacks, adds names of functions. */
void foreign_trace_finish(struct session *session, const char *path);

#endif
