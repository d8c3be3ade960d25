/* `argus watchflag` inside LLDB, of the process at hand: watched by LLDB itself (flag_session.h). */
#ifndef ARGUS_PLUGIN_FLAG_WATCH_H
#define ARGUS_PLUGIN_FLAG_WATCH_H

#include "plugin/command.h"

/* Is this such a command line: EXPRESSION, ADDRESS, or IMAGE SYMBOL, without a process id? */
bool flag_watch_is_meant(const struct session *session, const struct arguments *arguments);
/* access, semantics: 0 is the default; `bytes` 0: the variable's. */
struct argus_error *flag_watch_run(struct session *session, const struct arguments *arguments,
                                   uint32_t bytes, bool writes_only, uint32_t semantics);
/* Prints those that LLDB watches, with how many there are in `*ret_count`. */
void flag_watch_list(struct session *session, size_t *ret_count);
/* False: LLDB watches no such flag. */
bool flag_watch_remove(struct session *session, uint32_t number);

#endif
