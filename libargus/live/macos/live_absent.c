/* macOS has no /proc. The same walk would take turnstiles, ulock owners and Mach ports from
 * proc_pidinfo() and mach_port_kobject(); it is not written. */
#include "argus/live.h"

struct argus_error *argus_live_open(struct argus_live **ret)
{
    (void)ret;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                              "argus why reads /proc, which only Linux has: record instead (argus "
                              "record), and run argus diagnose");
}

void argus_live_close(struct argus_live *live)
{
    (void)live;
}

void argus_live_debugged(struct argus_live *live, uint32_t pid)
{
    (void)live, (void)pid;
}

struct argus_error *argus_live_find(struct argus_live *live, const char *word, uint32_t *ret)
{
    (void)live, (void)ret;
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "there is no process '%s'", word);
}

struct argus_error *argus_live_walk(struct argus_live *live, uint32_t thread,
                                    struct argus_live_answer *ret)
{
    (void)live, (void)thread, (void)ret;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "only on Linux");
}

struct argus_error *argus_live_look_closer(struct argus_live *live, uint64_t duration_ns,
                                           struct argus_live_answer *answer)
{
    (void)live, (void)duration_ns, (void)answer;
    return NULL;
}

struct argus_error *argus_live_look_around(struct argus_live *live, struct argus_live_overview *ret)
{
    (void)live, (void)ret;
    return argus_error_create(ARGUS_ERROR_UNSUPPORTED, "only on Linux");
}

void argus_live_overview_deinit(struct argus_live_overview *overview)
{
    (void)overview;
}

void argus_live_answer_deinit(struct argus_live_answer *answer)
{
    (void)answer;
}

struct argus_live_wait argus_live_wait_of(struct argus_live *live, uint32_t thread)
{
    (void)live, (void)thread;
    return (struct argus_live_wait){.kind = ARGUS_LIVE_UNREADABLE};
}

const struct argus_live_thread *argus_live_thread_at(const struct argus_live *live, uint32_t thread)
{
    (void)live, (void)thread;
    return NULL;
}

const struct argus_live_process *argus_live_process_at(const struct argus_live *live,
                                                       uint32_t process)
{
    (void)live, (void)process;
    return NULL;
}

const char *argus_live_text(const struct argus_live *live, uint32_t text)
{
    (void)live, (void)text;
    return "";
}

const char *argus_live_call_name(const struct argus_live_thread *thread)
{
    (void)thread;
    return NULL;
}
