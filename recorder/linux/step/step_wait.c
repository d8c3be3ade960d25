/* waitpid() has no time limit, so a timer's signal interrupts it regularly, to check the clock and
 * the front end. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "linux/step/stepper.h"

uint64_t step_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

unsigned step_event_of(int status)
{
    return (unsigned)status >> 16;
}

static bool front_end_is_gone(const struct stepper *stepper)
{
    struct pollfd polled = {.fd = stepper->control_fd, .events = POLLIN};
    return stepper->output->failed || poll(&polled, 1, 0) > 0;
}

enum step_wait step_wait_for(const struct stepper *stepper, pid_t tid, pid_t *ret_tid,
                             int *ret_status)
{
    for (;;) {
        pid_t got = waitpid(tid, ret_status, __WALL);
        if (got > 0) {
            *ret_tid = got;
            return WIFSTOPPED(*ret_status) ? STEP_WAIT_STOPPED : STEP_WAIT_ENDED;
        }
        if (errno != EINTR) {
            *ret_tid = tid;
            *ret_status = 0;
            return STEP_WAIT_ENDED;
        }
        if (tid == stepper->tid && step_call_is_left(stepper))
            ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
        if (front_end_is_gone(stepper))
            return STEP_WAIT_USER;
        if (stepper->deadline_ns && step_now_ns() >= stepper->deadline_ns)
            return STEP_WAIT_TIME;
    }
}
