#include "base/text_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct argus_error *text_file_read(const char *path, const char *named, const char *too_large,
                                   char **ret, size_t *ret_bytes)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return argus_error_os(errno, "cannot open %s%s", named, path);
    char *text = malloc(TEXT_FILE_MOST_BYTES);
    size_t bytes = text ? fread(text, 1, TEXT_FILE_MOST_BYTES, file) : 0;
    struct argus_error *error = NULL;
    if (!text)
        error = argus_error_memory();
    else if (ferror(file))
        error = argus_error_os(errno, "cannot read %s%s", named, path);
    else if (bytes == TEXT_FILE_MOST_BYTES)
        error = argus_error_create(ARGUS_ERROR_FORMAT, "%s %s", path, too_large);
    fclose(file);
    if (error) {
        free(text);
        return error;
    }
    text[bytes] = '\0';
    *ret = text;
    *ret_bytes = bytes;
    return NULL;
}
