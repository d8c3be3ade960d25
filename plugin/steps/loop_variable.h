/* The variables for which a thread's loop waits now, also on a stack or in an object to which no
 * variable leads: a few turns of the loop are stepped, and the values that decide its exits are
 * followed back to the memory that had them (argus/diverge.h). */
#ifndef ARGUS_PLUGIN_LOOP_VARIABLE_H
#define ARGUS_PLUGIN_LOOP_VARIABLE_H

#include "plugin/session.h"

#define LOOP_VARIABLES_MAX 4

struct loop_variable {
    uint64_t address;
    uint32_t bytes; /* that one register can watch */
    /* no variable of a file leads to it, so that its address is valid only in this process */
    bool is_local;
    bool is_on_stack; /* … and only until its function returns */
    char name[160];   /* "job->is_done"; stepped_variable_name() */
};

struct loop_variables {
    struct loop_variable all[LOOP_VARIABLES_MAX]; /* the likeliest first */
    size_t count;                                 /* at least 1 */
};

/* The thread continues afterwards. NOT_FOUND: it goes round no loop, or no variable decides it.
 * INTERRUPTED: by Ctrl-C. Takes up to three seconds, and before that up to ten until the thread has
 * come back from a library or the kernel to the program's own code. */
struct argus_error *loop_variables_find(struct session *session, uint32_t pid, uint32_t tid,
                                        struct loop_variables *ret);

struct argus_flag_candidate;
/* "window->is_ready", "settings+0x8"; if only a register led to it, "the field at +0x18 of an
 * object". */
void stepped_variable_name(const struct argus_flag_candidate *from, char *buffer, size_t bytes);

/* Whether `name` is its name; "jobs[i].is_done" is that of any element. */
bool loop_variable_is_called(const struct loop_variable *variable, const char *name);

#endif
