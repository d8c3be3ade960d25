#include "plugin/commands/live_watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/flags/flag_place.h"

/* --- which --- */

void live_watch_deinit(struct live_watch *watch)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        free(watch->all[i].variable.watch_name);
        free(watch->all[i].variable.name);
        free(watch->all[i].variable.image);
    }
    watch->count = 0;
}

static bool is_known(const struct live_watch *watch, const struct argus_loop_variable *variable)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct argus_loop_variable *known = &watch->all[i].variable;
        if (known->watch_pid == variable->watch_pid && !strcmp(known->name, variable->name) &&
            !strcmp(known->image, variable->image))
            return true;
    }
    return false;
}

static struct argus_error *keep_variable(struct live_watch *watch,
                                         const struct argus_loop_variable *variable)
{
    if (watch->count == LIVE_WATCHED_MAX || is_known(watch, variable))
        return NULL;
    struct live_variable *kept = &watch->all[watch->count++];
    *kept = (struct live_variable){.variable = {
                                       .name = strdup(variable->name),
                                       .image = strdup(variable->image),
                                       .watch_name = strdup(variable->watch_name),
                                       .watch_pid = variable->watch_pid,
                                       .watch_tid = variable->watch_tid,
                                       .watch_bytes = variable->watch_bytes,
                                   }};
    snprintf(kept->said, sizeof(kept->said), "%s", variable->name);
    return kept->variable.name && kept->variable.image && kept->variable.watch_name
               ? NULL
               : argus_error_memory();
}

struct argus_error *live_watch_keep(struct live_watch *watch,
                                    const struct argus_diagnosis *diagnosis)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; !error && i < diagnosis->culprit_count; i++) {
        const struct argus_code_loop *loop = &diagnosis->culprits[i].loop;
        for (size_t k = 0; !error && k < loop->variable_count; k++)
            error = keep_variable(watch, &loop->variables[k]);
    }
    return error;
}

/* --- where --- */

static uint64_t thread_of(const struct argus_loop_variable *variable)
{
    return variable->watch_tid ? variable->watch_tid : variable->watch_pid;
}

/* Once for all variables of a loop, also if that fails. */
static struct argus_error *step_loop(struct live_watch *watch,
                                     const struct argus_loop_variable *variable)
{
    uint64_t pid = variable->watch_pid, tid = thread_of(variable);
    if (watch->stepped_pid == pid && watch->stepped_tid == tid)
        return NULL;
    watch->stepped_pid = pid;
    watch->stepped_tid = tid;
    session_note(watch->session, "stepping some turns of the loop of thread %llu of process %llu",
                 (unsigned long long)tid, (unsigned long long)pid);
    struct argus_error *error =
        loop_variables_find(watch->session, (uint32_t)pid, (uint32_t)tid, &watch->stepped);
    if (error)
        watch->stepped.count = 0;
    return error;
}

/* Whether it is another variable of the loops, by its name or because it was chosen for it. */
static bool is_taken(const struct live_watch *watch, uint64_t pid,
                     const struct loop_variable *stepped)
{
    for (uint32_t i = 0; i < watch->count; i++) {
        const struct live_variable *other = &watch->all[i];
        if (other->variable.watch_pid == pid &&
            (other->address == stepped->address ||
             loop_variable_is_called(stepped, other->variable.name)))
            return true;
    }
    return false;
}

/* Under another name than in the code (without debug information, the steps show addresses), the
 * likeliest one that is on a stack or in an object, else the likeliest. */
static const struct loop_variable *choose(const struct live_watch *watch,
                                          const struct argus_loop_variable *variable)
{
    const struct loop_variable *chosen = NULL;
    for (size_t i = 0; i < watch->stepped.count; i++) {
        const struct loop_variable *one = &watch->stepped.all[i];
        if (loop_variable_is_called(one, variable->name))
            return one;
        if (!is_taken(watch, variable->watch_pid, one) &&
            (!chosen || (one->is_local && !chosen->is_local)))
            chosen = one;
    }
    return chosen;
}

/* On a stack, in an object, or one of an array: some turns of the loop lead to it. It is called as
 * the steps showed it, which may be another one than the code's name says. */
static struct argus_error *find_by_loop(struct live_watch *watch, struct live_variable *variable,
                                        struct request_flag *ret)
{
    struct argus_error *error = step_loop(watch, &variable->variable);
    if (error)
        return error;
    const struct loop_variable *chosen = choose(watch, &variable->variable);
    if (!chosen)
        return argus_error_create(
            ARGUS_ERROR_NOT_FOUND,
            "the turns of its loop that were stepped do not show where it is");
    ret->address = variable->address = chosen->address;
    ret->bytes = chosen->bytes;
    snprintf(variable->said, sizeof(variable->said), "%s", chosen->name);
    snprintf(ret->label, sizeof(ret->label), "%s", chosen->name);
    return NULL;
}

static struct argus_error *find_by_name(const struct argus_loop_variable *variable,
                                        struct request_flag *ret)
{
    struct flag_place place;
    struct argus_error *error =
        flag_place_symbol((uint32_t)variable->watch_pid, (uint32_t)thread_of(variable),
                          variable->image, variable->watch_name, &place);
    if (error)
        return error;
    ret->address = place.address;
    ret->bytes = variable->watch_bytes;
    ret->step_count = place.step_count;
    memcpy(ret->steps, place.steps, sizeof(ret->steps));
    snprintf(ret->label, sizeof(ret->label), "%s", place.label);
    return NULL;
}

struct argus_error *live_watch_find(struct live_watch *watch, struct live_variable *variable,
                                    struct request_flag *ret)
{
    *ret = (struct request_flag){.pid = (uint32_t)variable->variable.watch_pid,
                                 .access = FLAG_READS_AND_WRITES};
    return variable->variable.watch_bytes ? find_by_name(&variable->variable, ret)
                                          : find_by_loop(watch, variable, ret);
}
