/* bpf_programs: one line of JSON for each BPF program in the kernel that is attached to tracing: its name, who loaded it,
 * and how often and how long it ran. The kernel counts the latter two while somebody holds what --stats asks for:
 *
 *   bpf_programs                  prints
 *   bpf_programs --stats CMD…     makes the kernel count while CMD runs (Linux 5.8: BPF_ENABLE_STATS), at some 20 ns a run
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

static int print_program(uint32_t id)
{
    struct bpf_prog_info info = {0};
    uint32_t bytes = sizeof(info);
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0)
        return 0; /* gone meanwhile */
    if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 &&
        (info.type == BPF_PROG_TYPE_RAW_TRACEPOINT || info.type == BPF_PROG_TYPE_PERF_EVENT ||
         info.type == BPF_PROG_TYPE_KPROBE || info.type == BPF_PROG_TYPE_TRACING))
        printf(
            "{\"id\": %u, \"name\": \"%s\", \"runs\": %llu, \"time_ns\": %llu, \"missed\": %llu, "
            "\"bytes\": %u}\n",
            id, info.name, (unsigned long long)info.run_cnt, (unsigned long long)info.run_time_ns,
            (unsigned long long)info.recursion_misses, info.jited_prog_len);
    close(fd);
    return 0;
}

static int print_all(void)
{
    uint32_t id = 0;
    while (bpf_prog_get_next_id(id, &id) == 0)
        print_program(id);
    return 0;
}

static int run_counted(char **argv)
{
    int status = 0, fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
    if (fd < 0) {
        perror("bpf_programs: the kernel does not count");
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    waitpid(child, &status, 0);
    close(fd);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--stats") == 0)
        return run_counted(argv + 2);
    if (argc == 1)
        return print_all();
    fprintf(stderr, "usage: bpf_programs [--stats CMD…]\n");
    return 2;
}
