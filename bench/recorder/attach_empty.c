/* attach_empty OBJECT CMD…: runs CMD while every program of OBJECT is attached to the raw tracepoint that its section
 * names. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

static int attach_all(const char *path)
{
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    if (!object || bpf_object__load(object) < 0) {
        fprintf(stderr, "attach_empty: cannot load %s\n", path);
        return -1;
    }
    struct bpf_program *program;
    bpf_object__for_each_program(program, object)
    {
        if (!bpf_program__attach(program)) {
            fprintf(stderr, "attach_empty: cannot attach %s\n", bpf_program__name(program));
            return -1;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: attach_empty OBJECT CMD…\n");
        return 2;
    }
    if (attach_all(argv[1]) < 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
