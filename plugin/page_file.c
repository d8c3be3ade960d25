#include "plugin/page_file.h"

#include <errno.h>
#include <stdio.h>

#include "plugin/shown_output.h"
#include "recorder/client/output.h"

typedef struct argus_error *write_page(const struct argus_sink *sink, void *context);

static bool write_text(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

static struct argus_error *write_to(FILE *file, const char *path, write_page *write, void *context)
{
    const struct argus_sink sink = {.write = write_text, .context = file};
    struct argus_error *error = write(&sink, context);
    if (!error && (fflush(file) || ferror(file)))
        error = argus_error_os(errno, "cannot write %s", path);
    return error;
}

struct argus_error *page_file_save(struct session *session, const char *path, write_page *write,
                                   void *context)
{
    struct output output;
    struct argus_error *error = output_create(path, &output);
    if (error)
        return error;
    FILE *page = fdopen(output.fd, "w");
    FILE *file = page ? shown_output_open(page, false, true) : NULL;
    if (page)
        output.fd = -1; /* fclose() closes it */
    if (file) {
        error = write_to(file, path, write, context);
        if (fclose(file) && !error)
            error = argus_error_os(errno, "cannot write %s", path);
    } else {
        error = argus_error_os(errno, "cannot write %s", path);
        if (page)
            fclose(page);
    }
    session_end_progress(session);
    if (!error)
        error = output_commit(&output);
    output_deinit(&output);
    return error;
}
