#include "plugin/output_file.h"

#include <errno.h>

#include "plugin/shown_output.h"

static bool write_file(void *context, const char *text, size_t bytes)
{
    return fwrite(text, 1, bytes, context) == bytes;
}

static struct argus_error *open_file(const char *path, struct output_file *ret)
{
    struct argus_error *error = output_create(path, &ret->output);
    if (error)
        return error;
    ret->file = fdopen(ret->output.fd, "w");
    if (!ret->file) {
        error = argus_error_os(errno, "cannot write %s", path);
        output_deinit(&ret->output);
        return error;
    }
    ret->output.fd = -1; /* fclose() closes it */
    ret->sink = (struct argus_sink){.write = write_file, .context = ret->file};
    return NULL;
}

struct argus_error *output_file_open_binary(const char *path, struct output_file *ret)
{
    return open_file(path, ret);
}

struct argus_error *output_file_open(const char *path, struct output_file *ret)
{
    struct argus_error *error = open_file(path, ret);
    if (error)
        return error;
    FILE *file = ret->file;
    ret->file = shown_output_open(file, false, true);
    if (!ret->file) {
        fclose(file);
        output_deinit(&ret->output);
        return argus_error_memory();
    }
    ret->sink.context = ret->file;
    return NULL;
}

struct argus_error *output_file_close(struct output_file *file, struct argus_error *error)
{
    bool broken = ferror(file->file) != 0;
    if ((fclose(file->file) || broken) && !error)
        error = argus_error_os(errno ? errno : EIO, "cannot write %s", file->output.path);
    if (!error)
        error = output_commit(&file->output);
    output_deinit(&file->output);
    return error;
}
