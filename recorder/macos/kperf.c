#include "macos/kperf.h"

/* osfmk/kperf/action.h */
#define SAMPLE_THREAD       (1u << 0)
#define SAMPLE_KERNEL_STACK (1u << 2)
#define SAMPLE_USER_STACK   (1u << 3)
#define SAMPLE_DISPATCH     (1u << 9)
#define SAMPLERS            (SAMPLE_THREAD | SAMPLE_KERNEL_STACK | SAMPLE_USER_STACK | SAMPLE_DISPATCH)

enum { ACTION_WAIT = 1, ACTION_TIMER = 2, ACTION_COUNT = 2 };

/* Shorter waits are too many for a stack each. */
#define WAIT_THRESHOLD_NS 100000u

struct setting {
    const char *name;
    uint64_t words[2];
    size_t bytes;
};

static int set(const struct kdebug_os *os, const struct setting *setting)
{
    uint32_t narrow = (uint32_t)setting->words[0];
    const void *data =
        setting->bytes == sizeof(narrow) ? (const void *)&narrow : (const void *)setting->words;
    return os->control(os->context, setting->name, NULL, NULL, data, setting->bytes);
}

static uint64_t ns_to_ticks(const struct kdebug_os *os, uint64_t ns)
{
    uint32_t numer, denom;
    os->timebase(os->context, &numer, &denom);
    return ns * denom / numer;
}

static struct argus_error *set_all(const struct kdebug_os *os, const struct setting *settings,
                                   size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int number = set(os, &settings[i]);
        if (number)
            return argus_error_os(number, "cannot set %s", settings[i].name);
    }
    return NULL;
}

/* A timer is named by number, an action as well; each takes two 64-bit words, the rest takes one of
 * 32 or 64 bits. */
struct argus_error *kperf_begin(const struct kdebug_os *os, const struct kperf_options *options)
{
    const uint64_t two = 2 * sizeof(uint64_t), one = sizeof(uint64_t), narrow = sizeof(uint32_t);
    const struct setting actions[] = {
        {"kperf.reset", {1}, narrow},
        {"kperf.action.count", {ACTION_COUNT}, narrow},
        {"kperf.action.samplers", {ACTION_WAIT, SAMPLERS}, two},
        {"kperf.action.samplers", {ACTION_TIMER, SAMPLERS}, two},
    };
    const struct setting waits[] = {
        {"kperf.lazy.wait_time_threshold", {ns_to_ticks(os, WAIT_THRESHOLD_NS)}, one},
        {"kperf.lazy.wait_action", {ACTION_WAIT}, one},
    };
    const struct setting timer[] = {
        {"kperf.timer.count", {1}, narrow},
        {"kperf.timer.period",
         {0, ns_to_ticks(os, options->rate_hz ? 1000000000u / options->rate_hz : 0)},
         two},
        {"kperf.timer.action", {0, ACTION_TIMER}, two},
    };
    const struct setting start = {"kperf.sampling", {1}, narrow};
    struct argus_error *error = set_all(os, actions, sizeof(actions) / sizeof(actions[0]));
    if (!error && options->wait_stacks)
        error = set_all(os, waits, sizeof(waits) / sizeof(waits[0]));
    if (!error && options->rate_hz)
        error = set_all(os, timer, sizeof(timer) / sizeof(timer[0]));
    if (!error)
        error = set_all(os, &start, 1);
    if (error)
        kperf_end(os);
    return error;
}

void kperf_end(const struct kdebug_os *os)
{
    const struct setting settings[] = {
        {"kperf.sampling", {0}, sizeof(uint32_t)},
        {"kperf.reset", {1}, sizeof(uint32_t)},
    };
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        set(os, &settings[i]); /* an unknown setting is off */
}
