/* What all readers of foreign traces write into: records and tables of an .argus file.
 *
 * A foreign file is not in the order that a file of Argus has: the buffers of perf.data follow each
 * other by CPU or by thread, and its tables of threads come at any place. So the sink keeps all
 * records in memory, 80 bytes each, and sorts them when the file has been read. Only then is it
 * known how many CPUs there were, and whether wake-ups were recorded where the waker runs.
 *
 * Errors are kept: after the first one every call does nothing, and sink_write() returns it.
 */
#ifndef ARGUS_IMPORTER_IMPORT_SINK_H
#define ARGUS_IMPORTER_IMPORT_SINK_H

#include "argus/trace.h"

struct sink;

enum { SINK_MOST_CPUS = 65536 };

/* `unused` of a wake-up's record that is given to a sink. If a trace has both kinds, those at the
 * waker are kept. */
enum { SINK_WAKE_AT_WAKER = 1, SINK_WAKE_AT_WAKEE = 2 };

/* NULL without memory. */
struct sink *sink_create(void);
void sink_destroy(struct sink *sink);
/* Forgets all but the header, also its error. */
void sink_clear(struct sink *sink);

/* What is known of the recorded machine; may be changed until sink_write(). Borrowed. Begins as a
 * Linux machine of this program's architecture with a clock of 1/1 and without a wall clock. */
struct argus_trace_header *sink_header(struct sink *sink);

/* Adds one record. Records of one CPU and time keep the order in which they were added. */
void sink_record(struct sink *sink, const struct argus_record *record);

/* `count` records of the CPU were lost just before `time_ns`. */
void sink_lost(struct sink *sink, uint32_t cpu, uint64_t time_ns, uint64_t count);

/* What is known about a thread. Of 0 for `pid` or `parent`, or NULL for `name`, the sink keeps what
 * it was told before. `kernel`: a kernel thread. */
void sink_thread(struct sink *sink, uint64_t tid, uint64_t pid, uint64_t parent, const char *name,
                 bool kernel);
/* The thread is called `name` at the time of `place`, of which time, CPU, thread and debugid (new
 * name of a thread, or of a program that it started) count. Adds a record, but none of a thread
 * whose name is still the one that events told last, or that was not named by events yet; at time
 * 0, from a list of the threads that there were, it adds none. */
void sink_name(struct sink *sink, const struct argus_record *place, const char *name);
/* The thread of `place` made the thread `child`, which begins with this name. */
void sink_name_child(struct sink *sink, const struct argus_record *place, uint64_t child,
                     const char *name);
/* The process of the thread; 0: unknown. */
uint64_t sink_process(const struct sink *sink, uint64_t tid);

/* Keeps a stack, innermost frame first, and returns its ID; 0: it has no frames. */
uint64_t sink_stack(struct sink *sink, const uint64_t *frames, size_t count);

/* Keeps a copied stack, to be unwound when the trace is read. Returns the ID of the stack that it
 * will become; 0: not kept. `snapshot->id` is ignored, its bytes are copied. */
uint64_t sink_snapshot(struct sink *sink, const struct argus_snapshot *snapshot);

/* An executable mapping; path and build ID are copied. */
void sink_image(struct sink *sink, const struct argus_image_entry *image);

/* Code whose functions have names, but no file with symbols; name and source are copied, it has no
 * table of lines. */
void sink_code(struct sink *sink, const struct argus_code_entry *code);

/* The number of a mark, an event of a program that means nothing but its name: arg3 of a record
 * "hook". The same name has the same number. 0: not kept, there are too many. */
uint32_t sink_mark(struct sink *sink, const char *name);

/* Counts `count` things of the file that Argus does not use, of the kind `name`, which is copied.
 * sink_write() says how many there were. */
void sink_other(struct sink *sink, const char *name, uint64_t count);

/* A sentence for the user that the trace will contain (argus-trace(5), NOTE). */
void sink_note(struct sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps the error that ends the import, and owns it. NULL is ignored. */
void sink_fail(struct sink *sink, struct argus_error *error);
bool sink_failed(const struct sink *sink);

/* The time of the newest record; 0: there is none. */
uint64_t sink_last_ns(const struct sink *sink);

/* Writes all to `fd`, an empty file. The caller owns the error. A file without any record is an
 * error, too. */
struct argus_error *sink_write(struct sink *sink, int fd);

#endif
