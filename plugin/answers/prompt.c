/* LLDB has its own libedit and its own signal handler, with SA_RESTART: a plain read would not be
 * interrupted by Ctrl-C. So characters are read after poll() with a short timeout, and the host is
 * asked in between (measured in LLDB 16, 19 and 22). The libedit handle here exists for one line
 * only, and LLDB's own is not touched. */
#include "plugin/answers/prompt.h"

#include <errno.h>
#include <histedit.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POLL_MS = 100 };

struct reader {
    const char *text;
    int fd;
    bool (*interrupted)(void *data);
    void *data;
    bool stopped;
};

/* The next byte; 0 at the end of input, -1 if the user has interrupted. */
static int read_byte(struct reader *reader, char *ret)
{
    for (;;) {
        struct pollfd input = {.fd = reader->fd, .events = POLLIN};
        int ready = reader->interrupted(reader->data) ? -1 : poll(&input, 1, POLL_MS);
        if (reader->interrupted(reader->data)) {
            reader->stopped = true;
            return -1;
        }
        if (ready < 0 && errno != EINTR)
            return -1;
        if (ready <= 0)
            continue;
        ssize_t length = read(reader->fd, ret, 1);
        if (length >= 0 || errno != EINTR)
            return (int)length;
    }
}

static int get_char(EditLine *editor, wchar_t *ret)
{
    struct reader *reader;
    char byte;
    if (el_get(editor, EL_CLIENTDATA, &reader))
        return -1;
    int length = read_byte(reader, &byte);
    /* If ^D was typed before libedit made the terminal raw, n_tty delivers it as 0, which means end
     * of input. */
    if (length <= 0 || !byte)
        return length < 0 ? length : 0;
    *ret = (unsigned char)byte; /* answers are ASCII */
    return 1;
}

static char *prompt_text(EditLine *editor)
{
    struct reader *reader;
    el_get(editor, EL_CLIENTDATA, &reader);
    return (char *)reader->text; /* libedit does not write to it */
}

static bool copy_line(const char *line, char *ret, size_t ret_bytes)
{
    if (!line)
        return false;
    snprintf(ret, ret_bytes, "%.*s", (int)strcspn(line, "\r\n"), line);
    return true;
}

static bool read_edited(FILE *in, FILE *out, struct reader *reader, char *ret, size_t ret_bytes)
{
    EditLine *editor = el_init("argus", in, out, out);
    int length;
    if (!editor)
        return false;
    el_set(editor, EL_CLIENTDATA, reader);
    el_set(editor, EL_PROMPT, prompt_text);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_SIGNAL, 0);
    el_set(editor, EL_GETCFN, get_char);
    const char *line = el_gets(editor, &length);
    bool done = copy_line(length > 0 && !reader->stopped ? line : NULL, ret, ret_bytes);
    el_end(editor);
    return done;
}

/* Reads a line at a terminal that cannot move the cursor. */
static bool read_plain(FILE *out, struct reader *reader, char *ret, size_t ret_bytes)
{
    size_t length = 0;
    char byte;
    fputs(reader->text, out);
    fflush(out);
    while (read_byte(reader, &byte) > 0) {
        if (byte == '\n') {
            ret[length] = '\0';
            return true;
        }
        if (length + 1 < ret_bytes)
            ret[length++] = byte;
    }
    return false;
}

bool prompt_read_line(FILE *in, FILE *out, const char *text, bool (*interrupted)(void *data),
                      void *data, char *ret, size_t ret_bytes)
{
    struct reader reader = {text, fileno(in), interrupted, data, false};
    const char *terminal = getenv("TERM");
    bool plain = !terminal || !*terminal || !strcmp(terminal, "dumb");
    bool done = plain ? read_plain(out, &reader, ret, ret_bytes)
                      : read_edited(in, out, &reader, ret, ret_bytes);
    if (!done) {
        fputc('\n', out);
        fflush(out);
    }
    return done;
}
