#include "trace/image_file.h"

#include <string.h>

#include "argus/trace.h"

int image_file_compare(const void *left, const void *right)
{
    const struct argus_image_entry *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    if (a->dev_major != b->dev_major)
        return a->dev_major < b->dev_major ? -1 : 1;
    if (a->dev_minor != b->dev_minor)
        return a->dev_minor < b->dev_minor ? -1 : 1;
    return strcmp(a->path, b->path);
}
