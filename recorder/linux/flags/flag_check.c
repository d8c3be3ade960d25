/* An arm64 processor reports a watched access before the access happens, and the kernel has to step
 * over the instruction. Kernels before 6.6 (except 6.5.5 and Debian 12's 6.1, which have the fix)
 * do that only if no BPF program is attached: "hw_breakpoint: fix single-stepping when using
 * bpf_overflow_handler" (d11a69873d9a). Without the fix the thread would repeat the instruction for
 * ever. Distributions backport such fixes, so the version does not tell, and the recorder tries it.
 * Once the event is closed, the thread continues. x86 reports after the access, so there is nothing
 * to try, and a hit in the recorder itself is a risk there (flag_threads.c). */
#include "linux/flags/flag_check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

#if defined(__aarch64__)
#define REPORTS_BEFORE true
#else
#define REPORTS_BEFORE false
#endif

#define MOST_HITS    1000 /* hits of one write */
#define MOST_WAIT_MS 5000 /* for a thread that does not get a CPU */

struct trial {
    volatile uint64_t watched;
    _Atomic(uint32_t) tid; /* 0: the thread has not begun */
    atomic_bool may_write, has_written;
};

static void pause_ms(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

static void *write_once(void *context)
{
    struct trial *trial = context;
    trial->tid = (uint32_t)syscall(SYS_gettid);
    while (!trial->may_write)
        pause_ms();
    trial->watched = 1;
    trial->has_written = true;
    return NULL;
}

static int open_event(const struct trial *trial)
{
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(attributes),
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = (uint64_t)(uintptr_t)&trial->watched,
        .bp_len = sizeof(trial->watched),
        .sample_period = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, (pid_t)trial->tid, -1, -1,
                        PERF_FLAG_FD_CLOEXEC);
}

static uint64_t hits_of(int event)
{
    uint64_t hits;
    return read(event, &hits, sizeof(hits)) == (ssize_t)sizeof(hits) ? hits : 0;
}

/* Whether the write is reported repeatedly. */
static bool gets_stuck(struct trial *trial, int event)
{
    trial->may_write = true;
    for (int i = 0; i < MOST_WAIT_MS && !trial->has_written; i++) {
        if (hits_of(event) > MOST_HITS)
            return true;
        pause_ms();
    }
    return !trial->has_written && hits_of(event) > 1;
}

static bool try_watch(struct trial *trial, struct bpf_program *program)
{
    while (!trial->tid)
        pause_ms();
    int event = open_event(trial);
    struct bpf_link *link = event < 0 ? NULL : bpf_program__attach_perf_event(program, event);
    bool stuck = link && gets_stuck(trial, event);
    if (link)
        bpf_link__destroy(link); /* closes the event */
    else if (event >= 0)
        close(event);
    return stuck;
}

struct argus_error *flag_check_kernel(bool *is_checked, struct bpf_program *program)
{
    struct trial trial = {0};
    pthread_t thread;
    if (!REPORTS_BEFORE || *is_checked || pthread_create(&thread, NULL, write_once, &trial))
        return NULL;
    bool stuck = try_watch(&trial, program);
    trial.may_write = true;
    pthread_join(thread, NULL);
    *is_checked = !stuck;
    return stuck ? argus_error_create(ARGUS_ERROR_UNSUPPORTED,
                                      "this kernel does not step over an instruction that touches "
                                      "a watched address, so the program would never get past it "
                                      "(Linux 6.6 does step over it)")
                 : NULL;
}
