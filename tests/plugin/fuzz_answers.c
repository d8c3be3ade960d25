/* The file of answers beside a trace, which may come with it: any bytes give walks or an error, and
 * what can be asked about a walk is safe. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "plugin/answers/answer_book.h"

static void look_at(const struct answer_book *book)
{
    FILE *nowhere = fopen("/dev/null", "w");
    json_t *walk, *last = answer_book_last(book);
    size_t i;
    json_array_foreach(book->walks, i, walk)
    {
        answer_book_count(walk);
        if (nowhere)
            answer_book_write_line(walk, "t.argus", true, nowhere);
    }
    if (last)
        answer_book_count(last);
    if (nowhere)
        fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[64], trace[96], path[128];
    struct answer_book book;
    snprintf(folder, sizeof(folder), "/tmp/argus-fuzz-answers-%ld", (long)getpid());
    snprintf(trace, sizeof(trace), "%s/t.argus", folder);
    snprintf(path, sizeof(path), "%s.answers", trace);
    mkdir(folder, 0700);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    struct argus_error *error = answer_book_open(trace, &book);
    if (!error)
        look_at(&book);
    answer_book_deinit(&book); /* after an error, too */
    argus_error_destroy(error);
    unlink(path);
    rmdir(folder);
    return 0;
}
