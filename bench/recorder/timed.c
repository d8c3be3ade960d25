/* timed FILE CMD…: runs CMD and writes {"wall_ns": …, "cpu_ns": …, "user_ns": …, "system_ns": …} to FILE: its time on the clock, and
 * the cpu time of all of its processes that were waited for. Exits as CMD does. */
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t time_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static int write_result(const char *path, uint64_t wall_ns, const struct rusage *usage)
{
    FILE *file = fopen(path, "we");
    if (!file) {
        perror(path);
        return -1;
    }
    unsigned long long user_ns = time_ns(usage->ru_utime), system_ns = time_ns(usage->ru_stime);
    fprintf(file, "{\"wall_ns\": %llu, \"cpu_ns\": %llu, \"user_ns\": %llu, \"system_ns\": %llu}\n",
            (unsigned long long)wall_ns, user_ns + system_ns, user_ns, system_ns);
    return fclose(file);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: timed FILE CMD…\n");
        return 2;
    }
    uint64_t began_ns = clock_ns();
    pid_t child = fork();
    if (child < 0) {
        perror("timed: fork");
        return 1;
    }
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0)
        return 1;
    if (write_result(argv[1], clock_ns() - began_ns, &usage) != 0)
        return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
