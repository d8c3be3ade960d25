/* A hang database that someone else made: any bytes give rows and answers, or an error. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fleet/database.h"
#include "fleet/fleet_views.h"
#include "fuzz.h"

static struct argus_error *take_row(void *context, json_t *row)
{
    size_t *bytes = context;
    char *text = json_dumps(row, 0);
    *bytes += text ? strlen(text) : 0;
    free(text);
    return NULL;
}

static void ask(struct fleet_database *database)
{
    const struct fleet_filter filter = {.program = NULL};
    char package[64], version[64];
    size_t bytes = 0;
    for (int view = 0; view < FLEET_VIEWS; view++) {
        json_t *answer = NULL;
        argus_error_destroy(
            fleet_view_get(database, (enum fleet_view)view, &filter, NULL, 10, &answer));
        json_decref(answer);
    }
    argus_error_destroy(fleet_database_rows(database, take_row, &bytes));
    fleet_database_package(database, "ab", package, sizeof(package), version, sizeof(version));
    bytes += strlen(fleet_database_salt(database));
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const beside[] = {"", "-wal", "-shm", "-journal"};
    char path[64], left[80];
    struct fleet_database *database = NULL;
    snprintf(path, sizeof(path), "/tmp/argus-fuzz-fleet-%ld", (long)getpid());
    write_file(path, data, size);
    argus_error_destroy(fleet_database_open(path, false, &database));
    if (database)
        ask(database);
    fleet_database_close(database);
    for (size_t i = 0; i < sizeof(beside) / sizeof(*beside); i++) {
        snprintf(left, sizeof(left), "%s%s", path, beside[i]);
        unlink(left);
    }
    return 0;
}
