#include "library_abort.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sanitizer.h"
#if IS_SANITIZED
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#endif

enum { TEXT_BYTES = 400 };

static int own_stderr = -1; /* of before; -1: nothing is set up */
static int said_by_library; /* a file in memory */
static const char *of, *where;
static struct sigaction before;

static void say(const char *text)
{
    size_t left = strlen(text);
    ssize_t written;
    while (left && (written = write(own_stderr, text, left)) > 0) {
        text += written;
        left -= (size_t)written;
    }
}

/* The last line, without what is no ASCII: babeltrace adorns its assertions. */
static const char *last_line(char *text, size_t length)
{
    while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
        length--;
    text[length] = '\0';
    char *newline = strrchr(text, '\n');
    char *line = newline ? newline + 1 : text;
    for (char *at = line; *at; at++)
        if ((unsigned char)*at >= 0x80)
            line = at + 1;
    return line + strspn(line, " ");
}

/* Calls only what a handler of a signal may call. */
static void on_abort(int number)
{
    char text[TEXT_BYTES + 1];
    off_t end = lseek(said_by_library, 0, SEEK_END);
    ssize_t length =
        pread(said_by_library, text, TEXT_BYTES, end > TEXT_BYTES ? end - TEXT_BYTES : 0);
    const char *line = last_line(text, length > 0 ? (size_t)length : 0);
    (void)number;
    say("cannot import ");
    say(where);
    say(": ");
    say(of);
    say(" cannot read it, and ended itself");
    say(*line ? ": " : "");
    say(line);
    say("\n");
    _exit(1);
}

/* A sanitizer's report is none of the library's messages. */
static void send_reports_to(int fd)
{
#if IS_SANITIZED
    __sanitizer_set_report_fd((void *)(intptr_t)fd);
#else
    (void)fd;
#endif
}

void library_abort_begin(const char *library, const char *path)
{
    struct sigaction action = {.sa_handler = on_abort};
    said_by_library = memfd_create("library's messages", MFD_CLOEXEC);
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    of = library;
    where = path;
    if (said_by_library >= 0 && own_stderr >= 0 &&
        dup2(said_by_library, STDERR_FILENO) == STDERR_FILENO) {
        sigaction(SIGABRT, &action, &before);
        send_reports_to(own_stderr);
        return;
    }
    if (said_by_library >= 0)
        close(said_by_library);
    if (own_stderr >= 0)
        close(own_stderr);
    own_stderr = -1;
}

void library_abort_end(void)
{
    if (own_stderr < 0)
        return;
    sigaction(SIGABRT, &before, NULL);
    dup2(own_stderr, STDERR_FILENO);
    send_reports_to(STDERR_FILENO);
    close(own_stderr);
    close(said_by_library);
    own_stderr = -1;
}
