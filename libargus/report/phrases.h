/* Parts of sentences: threads, functions, durations. */
#ifndef ARGUS_REPORT_PHRASES_H
#define ARGUS_REPORT_PHRASES_H

#include "slice/timeline.h"

/* "3.2 s", "120 ms", "15 us": three digits at most. Returns `buffer`; so below. */
const char *text_duration(uint64_t ns, char *buffer, size_t bytes);

/* "editor's main thread", "thread worker of editor". */
const char *text_thread(const struct view *view, uint32_t thread, char *buffer, size_t bytes);

/* "package [20]". */
const char *text_process_of(const struct view *view, uint32_t thread, char *buffer, size_t bytes);

/* The name of the function in a stack of `vertex` that tells a reader most: the innermost one
 * outside the C library's waiting functions, which may be inlined (argus_symbols_named()); for a
 * script, with file and line (argus_symbols_script()). NULL if no function has a name. Written into
 * `buffer`. */
struct argus_symbols;
const char *text_function(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                          uint32_t stack, char *buffer, size_t bytes);

/* ", in g_file_load_contents, called by document_open": the library's function that the program's
 * own code called, and the function that did. ", in " and text_function() if that is not known or
 * the program called no library; "" if no function has a name. */
const char *text_callers(const struct view *view, struct argus_symbols *symbols, uint32_t vertex,
                         uint32_t stack, char *buffer, size_t bytes);

/* What the loop of `vertex` polls for, as far as its system calls show: "the end of a child", else
 * "a data flag". Static. */
const char *text_polled_object(const struct view *view, uint32_t vertex);

/* "tried to lock inode 7 of device 8:1, held by package's main thread, 12 times in a row",
 * or "tried once in vain to lock …, and got it at the next try":
 * if `thread` did this for most of the time. NULL: it did not. */
const char *text_lock_tries(const struct view *view, uint32_t thread, uint64_t start_ns,
                            uint64_t end_ns, char *buffer, size_t bytes);

/* "192.0.2.1:53 (UDP)": of an index into argus_graph_remotes(). */
const char *text_remote(const struct view *view, uint32_t remote, char *buffer, size_t bytes);

#endif
