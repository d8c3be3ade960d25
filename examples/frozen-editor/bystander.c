/* bystander: busy from beginning to end, in bursts, and innocent. Killed by the typist. */
#include <time.h>

#include "message.h"

#define BURST_MS 20

static volatile unsigned sum;

static void compute_burst(void)
{
    uint64_t end_ms = message_now_ms() + BURST_MS;
    while (message_now_ms() < end_ms)
        for (unsigned i = 0; i < 10000; i++)
            sum += i;
}

int main(void)
{
    const struct timespec breath = {.tv_nsec = 1000000};
    for (;;) {
        compute_burst();
        nanosleep(&breath, NULL);
    }
}
