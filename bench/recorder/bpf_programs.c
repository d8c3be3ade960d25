/* bpf_programs: one line of JSON for each BPF program in the kernel that is attached to tracing:
 * its name, the process that loaded it, and number and duration of its runs. The kernel counts the
 * latter two only while a process has enabled it, as --stats does:
 *
 *   bpf_programs                  prints
 *   bpf_programs --stats CMD…     makes the kernel count while CMD runs (Linux 5.8: BPF_ENABLE_STATS), at some 20 ns a run
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

/* The full name of a program's first function: the program's own name is cut off after 15
 * characters. */
static void full_name(int fd, const struct bpf_prog_info *info, char *ret, size_t room)
{
    struct bpf_func_info function = {0};
    struct bpf_prog_info more = {
        .func_info = (uint64_t)(uintptr_t)&function,
        .nr_func_info = 1,
        .func_info_rec_size = sizeof(function),
    };
    uint32_t bytes = sizeof(more);
    struct btf *btf = info->btf_id ? btf__load_from_kernel_by_id(info->btf_id) : NULL;
    const struct btf_type *type = NULL;
    if (btf && bpf_obj_get_info_by_fd(fd, &more, &bytes) == 0)
        type = btf__type_by_id(btf, function.type_id);
    const char *name = type ? btf__name_by_offset(btf, type->name_off) : NULL;
    snprintf(ret, room, "%s", name ? name : info->name);
    btf__free(btf);
}

static bool is_tracing(const struct bpf_prog_info *info)
{
    return info->type == BPF_PROG_TYPE_RAW_TRACEPOINT || info->type == BPF_PROG_TYPE_PERF_EVENT ||
           info->type == BPF_PROG_TYPE_KPROBE || info->type == BPF_PROG_TYPE_TRACING;
}

static void print_program(uint32_t id)
{
    struct bpf_prog_info info = {0};
    uint32_t bytes = sizeof(info);
    char name[128];
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0)
        return; /* it was unloaded meanwhile */
    if (bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 && is_tracing(&info)) {
        full_name(fd, &info, name, sizeof(name));
        printf(
            "{\"id\": %u, \"name\": \"%s\", \"runs\": %llu, \"time_ns\": %llu, \"missed\": %llu, "
            "\"bytes\": %u}\n",
            id, name, (unsigned long long)info.run_cnt, (unsigned long long)info.run_time_ns,
            (unsigned long long)info.recursion_misses, info.jited_prog_len);
    }
    close(fd);
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
