/* The main thread starts a process for each event and waits for its end. Variants: fork, exec. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scene.h"

static void compile_document(unsigned ms)
{
    scene_burn(ms);
}

static void compile_in_fork(void *context)
{
    compile_document(*(unsigned *)context);
}

static void compile_by_exec(void *context)
{
    char ms[16];
    snprintf(ms, sizeof(ms), "%u", *(unsigned *)context);
    execl("/proc/self/exe", "compiler", "compile", ms, (char *)NULL);
    scene_fail("exec");
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    unsigned ms = hang ? scene->hang_ms : scene_jitter(scene, 8);
    pid_t compiler = scene_process(
        "compiler", scene_variant(scene, "exec") ? compile_by_exec : compile_in_fork, &ms);
    while (waitpid(compiler, NULL, 0) < 0 && errno == EINTR)
        ;
}

int main(int argc, char **argv)
{
    struct scene scene;
    if (argc == 3 && strcmp(argv[1], "compile") == 0) {
        prctl(PR_SET_NAME, "compiler");
        compile_document((unsigned)atoi(argv[2]));
        return 0;
    }
    scene_begin(&scene, argc, argv, "fork");
    scene_run(&scene, handle_event, &scene);
}
