/* The server's memory is not resident: every page that it reads must first be loaded from the
 * disk. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

#define LEDGER_BYTES (24u << 20)
#define PAGE_BYTES   4096u

struct ledger {
    int fd;
    volatile unsigned char *pages;
};

static struct ledger ledger;
static struct line accounts; /* the victim's end */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void open_ledger(void)
{
    char name[] = "/var/tmp/paged-ledger-XXXXXX";
    ledger.fd = mkstemp(name);
    char *data = malloc(LEDGER_BYTES);
    if (ledger.fd < 0 || !data)
        scene_fail(name);
    unlink(name);
    memset(data, 'l', LEDGER_BYTES);
    if (write(ledger.fd, data, LEDGER_BYTES) != LEDGER_BYTES || fsync(ledger.fd) != 0)
        scene_fail("ledger");
    free(data);
    ledger.pages = mmap(NULL, LEDGER_BYTES, PROT_READ, MAP_SHARED, ledger.fd, 0);
    if (ledger.pages == MAP_FAILED)
        scene_fail("mmap");
    madvise((void *)ledger.pages, LEDGER_BYTES, MADV_RANDOM);
}

/* Simulates memory pressure. */
static void forget_pages(void)
{
    madvise((void *)ledger.pages, LEDGER_BYTES, MADV_DONTNEED);
    posix_fadvise(ledger.fd, 0, LEDGER_BYTES, POSIX_FADV_DONTNEED);
}

/* The culprit: goes through the pages. */
static unsigned add_up_pages(double end_ms)
{
    unsigned sum = 0;
    for (unsigned at = 0; at < LEDGER_BYTES && now_ms() < end_ms; at += PAGE_BYTES)
        sum += ledger.pages[at * 7u % LEDGER_BYTES / PAGE_BYTES * PAGE_BYTES];
    return sum;
}

static void add_up(const struct work *work, unsigned ms)
{
    double end_ms = now_ms() + ms;
    volatile unsigned sum = 0;
    (void)work;
    while (now_ms() < end_ms) {
        if (ms > 100)
            forget_pages();
        sum += add_up_pages(end_ms);
    }
    (void)sum;
}

static void be_ledger(void *context)
{
    open_ledger();
    line_serve(*(struct line *)context, add_up);
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    line_ask(accounts, (struct work){.before_ms = hang ? scene->hang_ms : 3});
}

int main(int argc, char **argv)
{
    static struct scene scene;
    struct line ends[2];
    scene_begin(&scene, argc, argv, "unix");
    scene_connect(&scene, ends);
    accounts = ends[0];
    scene_process("ledger", be_ledger, &ends[1]);
    scene_run(&scene, handle_event, &scene);
}
