/* Reads a file in parts, thirty times. "sleep" or "compute" as first argument makes read_body() slow by 10 ms each time. */
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 30, SLOW_NS = 10000000 };

static volatile char part;

static void compute(void)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < SLOW_NS);
}

static __attribute__((noinline)) void read_header(int fd)
{
    char byte = 0;
    part += pread(fd, &byte, 1, 0) == 1;
    part += byte;
}

static __attribute__((noinline)) void read_body(int fd, const char *how)
{
    char byte = 0;
    if (strcmp(how, "sleep") == 0)
        nanosleep(&(struct timespec){0, SLOW_NS}, NULL);
    else if (strcmp(how, "compute") == 0)
        compute();
    part += pread(fd, &byte, 1, 1) == 1;
    part += byte;
}

int main(int argc, char **argv)
{
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    for (int i = 0; i < TIMES; i++) {
        read_header(fd);
        read_body(fd, argc > 1 ? argv[1] : "");
    }
    close(fd);
    return 0;
}
