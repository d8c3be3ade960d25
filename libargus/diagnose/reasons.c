#include "diagnose/reasons.h"

#include <stdlib.h>
#include <string.h>

#include "diagnose/diagnoser.h"

/* NULL for NULL. False without memory. */
static bool copy_text(const char *text, char **ret)
{
    *ret = text ? strdup(text) : NULL;
    return !text || *ret;
}

static bool copy_writers(const struct argus_loop_variable *from, struct argus_loop_variable *ret)
{
    ret->writers = calloc(from->writer_count + 1, sizeof(*ret->writers));
    for (size_t i = 0; ret->writers && i < from->writer_count; i++) {
        ret->writers[i] = from->writers[i];
        ret->writer_count = i + 1;
        if (!copy_text(from->writers[i].place, &ret->writers[i].place))
            return false;
    }
    return ret->writers != NULL;
}

static bool copy_variable(const struct argus_loop_variable *from, struct argus_loop_variable *ret)
{
    *ret = (struct argus_loop_variable){.watch_pid = from->watch_pid,
                                        .watch_tid = from->watch_tid,
                                        .watch_bytes = from->watch_bytes,
                                        .is_lock = from->is_lock,
                                        .has_more_writers = from->has_more_writers};
    return copy_text(from->name, &ret->name) && copy_text(from->image, &ret->image) &&
           copy_text(from->command, &ret->command) &&
           copy_text(from->watch_name, &ret->watch_name) && copy_writers(from, ret);
}

/* Without the threads, which no sentence about a copy names. NULL without memory. */
static struct argus_code_loop *copy_loop(const struct argus_code_loop *from)
{
    struct argus_code_loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return NULL;
    loop->is_whole = from->is_whole;
    loop->variables = calloc(from->variable_count + 1, sizeof(*loop->variables));
    bool good = loop->variables && copy_text(from->place, &loop->place);
    for (size_t i = 0; good && i < from->variable_count; i++) {
        loop->variable_count = i + 1;
        good = copy_variable(&from->variables[i], &loop->variables[i]);
    }
    if (good)
        return loop;
    code_loop_free(loop);
    free(loop);
    return NULL;
}

static bool copy_users(const struct argus_reason *from, struct argus_reason *ret)
{
    if (!from->user_count)
        return true;
    ret->users = calloc(from->user_count, sizeof(*ret->users));
    if (!ret->users)
        return false;
    memcpy(ret->users, from->users, from->user_count * sizeof(*ret->users));
    ret->user_count = from->user_count;
    return true;
}

bool reason_copy(const struct argus_reason *reason, struct argus_reason *ret)
{
    *ret = *reason;
    ret->name = ret->write.place = NULL;
    ret->users = NULL;
    ret->user_count = 0;
    ret->loop = reason->loop ? copy_loop(reason->loop) : NULL;
    if (copy_text(reason->name, &ret->name) && copy_text(reason->write.place, &ret->write.place) &&
        copy_users(reason, ret) && (ret->loop || !reason->loop))
        return true;
    reason_deinit(ret);
    return false;
}

void reason_deinit(struct argus_reason *reason)
{
    free(reason->name);
    free(reason->write.place);
    free(reason->users);
    if (reason->loop)
        code_loop_free(reason->loop);
    free(reason->loop);
    *reason = (struct argus_reason){.kind = ARGUS_REASON_NONE};
}
