/* `argus` in a shell: standard streams, Ctrl-C and the exit code around the command table. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "plugin/answers/prompt.h"
#include "plugin/command.h"
#include "plugin/memory_limit.h"

enum { INTERRUPTS_TO_KILL = 3 };

static volatile sig_atomic_t interrupts;

static void on_interrupt(int number)
{
    (void)number;
    interrupts = interrupts + 1;
    /* lets the user out even if something else hangs */
    if (interrupts >= INTERRUPTS_TO_KILL)
        _exit(EXIT_CODE_FAILED);
}

static bool interrupted(void *data)
{
    (void)data;
    return interrupts > 0;
}

static void print_remark(void *data, const char *level, const char *text)
{
    (void)data;
    fflush(stdout);
    fprintf(stderr, "argus: %s%s%s\n", level, *level ? ": " : "", text);
}

/* On a terminal, rewrites one line; in a log, prints one line for each kind of work. */
static void show_progress(void *data, const char *what, uint64_t done, uint64_t total)
{
    char *last = data;
    bool terminal = isatty(STDERR_FILENO);
    if (!what)
        *last = '\0';
    if (terminal)
        fprintf(stderr, "\r\033[K");
    if (!what || (!terminal && !strncmp(last, what, 63)))
        return;
    snprintf(last, 64, "%s", what);
    fprintf(stderr, "argus: %s", what);
    if (terminal && total)
        fprintf(stderr, " %u %%", (unsigned)(100.0 * (double)done / (double)total));
    if (!terminal)
        fputc('\n', stderr);
}

static bool can_ask(void *data)
{
    (void)data;
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

static bool read_line(void *data, const char *text, const char *prompt, char *ret, size_t ret_bytes)
{
    fputs(text, stdout);
    if (prompt_read_line(stdin, stdout, prompt, interrupted, data, ret, ret_bytes))
        return true;
    /* Ctrl-C answered the question; the command still has to print how to continue */
    interrupts = 0;
    return false;
}

static void look_at_terminal(struct session *session)
{
    struct winsize size;
    const char *terminal = getenv("TERM");
    if (!isatty(STDOUT_FILENO))
        return;
    session->width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
    session->colour = terminal && strcmp(terminal, "dumb") != 0 && !getenv("NO_COLOR");
}

/* Lost output is a failure, e.g. on a full disk with `argus … > file`. */
static int finish_output(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fprintf(stderr, "argus: cannot write the output: %s\n", strerror(errno));
    return EXIT_CODE_FAILED;
}

int main(int argc, char **argv)
{
    char last_progress[64] = "";
    struct session session;
    struct session_host host = {last_progress, interrupted, print_remark, show_progress,
                                read_line,     can_ask,     NULL};
    struct sigaction action = {.sa_handler = on_interrupt}; /* no SA_RESTART: reads return */
    sigaction(SIGINT, &action, NULL);

    session_init(&session, &host, stdout);
    look_at_terminal(&session);
    struct argus_error *error = NULL;
    const char *const *words = (const char *const *)argv;
    int code = argc > 0 ? command_line_run(&session, argc - 1, words + 1, &error) : EXIT_CODE_USAGE;
    code = finish_output(code);
    if (error)
        fprintf(stderr, "argus: %s%s\n", error->message, memory_limit_hint(error));
    argus_error_destroy(error);
    session_deinit(&session);
    return code;
}
