/* fuzz_NAME DIRECTORY: runs the fuzz target on every file in it. Fails if there is none. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

enum { MOST_BYTES = 16 << 20 };

static int run_file(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    uint8_t *data = file ? malloc(MOST_BYTES) : NULL;
    if (!data) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        exit(1);
    }
    size_t size = fread(data, 1, MOST_BYTES, file);
    fclose(file);
    /* So that the sanitizer detects an overrun of one byte. */
    uint8_t *exact = malloc(size ? size : 1);
    if (!exact)
        exit(1);
    memcpy(exact, data, size);
    free(data);
    int result = LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return result;
}

int main(int argc, char **argv)
{
    DIR *directory = argc == 2 ? opendir(argv[1]) : NULL;
    if (!directory) {
        fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
        return 2;
    }
    size_t files = 0;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (entry->d_name[0] != '.') {
            if (run_file(argv[1], entry->d_name))
                return 1;
            files++;
        }
    closedir(directory);
    printf("%zu files\n", files);
    return files ? 0 : 1;
}
