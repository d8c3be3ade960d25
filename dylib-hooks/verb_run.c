/* Makes the libraries in a temporary folder, runs the program with them in LD_PRELOAD, and removes
 * the folder. */
#include "hook_command.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __APPLE__
#define PRELOAD "DYLD_INSERT_LIBRARIES"
extern char **environ; /* Linux's unistd.h has it */
#else
#define PRELOAD "LD_PRELOAD"
#endif

struct made {
    char folder[64];
    char list[16384]; /* for PRELOAD */
    unsigned count;
};

static struct argus_error *add_library(const struct hook_options *options,
                                       const struct prepared *prepared, struct made *made)
{
    char path[128];
    size_t used = strlen(made->list);
    snprintf(path, sizeof(path), "%s/argus-hooks-%u.so", made->folder, made->count++);
    if (used + strlen(path) + 2 > sizeof(made->list))
        return argus_error_create(ARGUS_ERROR_USAGE, "too many images");
    snprintf(made->list + used, sizeof(made->list) - used, "%s%s", used ? ":" : "", path);
    return write_library(options, prepared, path);
}

static struct argus_error *add_table(const struct hook_options *options, const char *table,
                                     struct made *made)
{
    bool more = true;
    struct argus_error *error = NULL;
    for (size_t i = 0; more && !error; i++) {
        struct prepared prepared;
        error = prepare(options, table, i, &prepared, &more);
        if (error)
            return error;
        if (prepared.hooks.hooks.length)
            error = add_library(options, &prepared, made);
        prepared_deinit(&prepared);
    }
    return error;
}

static void take_away(const struct made *made)
{
    for (unsigned i = 0; i < made->count; i++) {
        char path[128];
        snprintf(path, sizeof(path), "%s/argus-hooks-%u.so", made->folder, i);
        unlink(path);
    }
    rmdir(made->folder);
}

/* Ctrl-C is for the program; argus-hook exits as the program does. */
static struct argus_error *wait_for(pid_t pid, int *ret_status)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(pid, ret_status, 0) < 0)
        if (errno != EINTR)
            return argus_error_os(errno, "cannot wait for the program");
    return NULL;
}

static struct argus_error *run_program(char *const *argv, const struct made *made, int *ret_status)
{
    const char *before = getenv(PRELOAD);
    char *list = NULL;
    pid_t pid;
    if (asprintf(&list, "%s%s%s", made->list, before && *before ? ":" : "", before ? before : "") <
        0)
        return argus_error_memory();
    setenv(PRELOAD, list, 1);
    free(list);
    int failed = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);
    if (before)
        setenv(PRELOAD, before, 1);
    else
        unsetenv(PRELOAD);
    return failed ? argus_error_os(failed, "cannot run %s", argv[0]) : wait_for(pid, ret_status);
}

/* The words before the program are tables. getopt has removed the "--" that ends them, so they are
 * all words up to the first that is no table. */
static int count_tables(const struct hook_options *options)
{
    for (int i = 0; i < options->count; i++)
        if (strcmp(options->words[i], "--") == 0)
            return i;
    return 1;
}

struct argus_error *verb_run(const struct hook_options *options)
{
    struct made made = {.folder = "/tmp/argus-hook-XXXXXX"};
    int tables = count_tables(options), status = 0;
    int program =
        tables < options->count && strcmp(options->words[tables], "--") == 0 ? tables + 1 : tables;
    if (program >= options->count)
        return argus_error_create(ARGUS_ERROR_USAGE, "which program? argus-hook run TABLE -- CMD");
    if (!mkdtemp(made.folder))
        return argus_error_os(errno, "cannot make a folder in /tmp");
    struct argus_error *error = NULL;
    for (int i = 0; i < tables && !error; i++)
        error = add_table(options, options->words[i], &made);
    if (!error)
        error = run_program(options->words + program, &made, &status);
    take_away(&made);
    if (error)
        return error;
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    exit(WEXITSTATUS(status));
}
