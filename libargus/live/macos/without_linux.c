/* What the walk asks for that only Linux's code finds, in builds for macOS: the locks and stacks of
 * interpreters and of Go, D-Bus, X11, epoll. Each answer is "there is none". */
#include "live/live_around.h"
#include "live/live_dbus.h"
#include "live/live_display.h"
#include "live/live_go.h"
#include "live/live_java.h"
#include "live/live_python.h"
#include "live/live_sample.h"
#include "live/live_selection.h"
#include "live/live_set.h"

/* --- Go, Python, Java: their programs are ELF files there --- */

void live_go_deinit(struct goroutines *goroutines)
{
    vec_deinit(&goroutines->items);
}

bool live_go_wait(struct argus_live *live, uint32_t thread, bool follows,
                  struct argus_live_wait *wait, struct live_candidates *ret,
                  struct goroutines *ret_goroutines)
{
    (void)live, (void)thread, (void)follows, (void)wait, (void)ret, (void)ret_goroutines;
    return false;
}

size_t live_go_stack(struct argus_live *live, uint32_t pid, const struct goroutine *goroutine,
                     uint64_t ret[LIVE_STACK_FRAMES], bool *ret_cut)
{
    (void)live, (void)pid, (void)goroutine, (void)ret;
    *ret_cut = true;
    return 0;
}

void live_go_group(struct argus_live *live, uint32_t process, const struct goroutines *goroutines,
                   struct live_go_groups *ret)
{
    (void)live, (void)process, (void)goroutines, (void)ret;
}

size_t live_python_frames(struct argus_live *live, uint32_t thread,
                          struct python_frame ret[PYTHON_FRAMES])
{
    (void)live, (void)thread, (void)ret;
    return 0;
}

bool live_is_python_call(const char *function)
{
    (void)function;
    return false;
}

bool live_python_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                      struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait, (void)ret;
    return false;
}

bool live_java_lock(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait, (void)ret;
    return false;
}

/* --- D-Bus, X11 --- */

bool live_dbus_call(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait, (void)ret;
    return false;
}

bool live_selection(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                    struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait, (void)ret;
    return false;
}

/* Whether a window answers, no public interface of macOS tells. */
void live_ask_windows(struct around *around)
{
    (void)around;
}

enum live_display live_display_of(struct argus_live *live, uint32_t process)
{
    (void)live, (void)process;
    return LIVE_DISPLAY_NONE;
}

/* --- locks that sleeping threads try again and again, /proc's other facts --- */

bool live_polled_mutex(struct argus_live *live, uint32_t thread, struct argus_live_wait *wait,
                       struct live_candidates *ret)
{
    (void)live, (void)thread, (void)wait, (void)ret;
    return false;
}

void live_polled_locks(struct argus_live *live, uint32_t thread, uint64_t sp,
                       struct live_candidates *ret)
{
    (void)live, (void)thread, (void)sp, (void)ret;
}

void live_siblings(struct argus_live *live, uint32_t process, live_sibling *take, void *context)
{
    (void)live, (void)process, (void)take, (void)context;
}

uint64_t live_last_ran_ns(struct argus_live *live, uint32_t thread)
{
    (void)live, (void)thread;
    return 0;
}

uint32_t live_set_of_epoll(struct argus_live *live, uint32_t thread, struct live_polled *ret)
{
    (void)live, (void)thread, (void)ret;
    return 0;
}

void live_add_sharers(struct argus_live *live, uint32_t thread, struct live_candidates *ret)
{
    (void)live, (void)thread, (void)ret;
}

bool live_are_stuck(struct argus_live *live, uint32_t process, bool *ret_guess)
{
    (void)live, (void)process, (void)ret_guess;
    return false;
}

/* --- loops, which are found in ELF files --- */

bool live_loop(struct argus_live *live, uint32_t thread, const uint64_t *frames, size_t count,
               bool is_sample, struct argus_live_loop *ret, uint64_t *ret_key)
{
    (void)live, (void)thread, (void)frames, (void)count, (void)is_sample, (void)ret_key;
    ret->flag_count = 0;
    return false;
}

void live_loop_of(struct argus_live *live, uint32_t thread, struct argus_live_loop *ret)
{
    (void)live, (void)thread;
    ret->flag_count = 0;
}
