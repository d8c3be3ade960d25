/* `argus watchflag` inside LLDB, for its process; LLDB itself watches (flag_session.h). */
#ifndef ARGUS_PLUGIN_FLAG_WATCH_H
#define ARGUS_PLUGIN_FLAG_WATCH_H

#include "plugin/command.h"
#include "plugin/flags/flag_session.h"

/* Whether the command line is of this kind: EXPRESSION, ADDRESS, or IMAGE SYMBOL, without a process
 * id. */
bool flag_watch_is_meant(const struct session *session, const struct arguments *arguments);
/* `access`, `semantics`: 0 is the default; `bytes` 0: the variable's size. */
struct argus_error *flag_watch_run(struct session *session, const struct arguments *arguments,
                                   uint32_t bytes, bool writes_only, uint32_t semantics);
/* The flags that LLDB watches in processes that live; the number of rows. 0 in the shell. */
size_t flag_watch_rows(struct session *session, struct flag_session_row *ret, size_t room);
/* Prints the flags that LLDB watches; `*ret_count`: their number. */
void flag_watch_list(struct session *session, size_t *ret_count);
/* False: LLDB watches no such flag. */
bool flag_watch_remove(struct session *session, uint32_t number);

#endif
