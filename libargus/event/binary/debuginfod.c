/* libdebuginfod is loaded when the first file is needed, as libdwfl does. So a build needs no
 * package for it, and a program that fetches nothing loads no HTTP library. libdwfl's own use of
 * libdebuginfod is avoided, since it has no time limit for all files together and cannot be
 * interrupted.
 *
 * The library first looks in its cache ($XDG_CACHE_HOME/debuginfod_client), which also stores for
 * some minutes that no server has a file. While it waits, it calls debuginfod_progressfn_t about
 * once a second. It always returns within the limits, with one exception: if a name server does not
 * respond, the C library gives up only after up to 30 s.
 */
#include "event/binary/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "event/binary/elf_file.h"

/* Time limit in seconds for all files of one command; DEBUGINFOD_MAXTIME overrides it. */
enum { USUAL_SECONDS = 120 };
#define NS_PER_S 1000000000u

typedef struct debuginfod_client client;
typedef int (*client_progress)(client *, long done, long total);

/* The part of elfutils/debuginfod.h that is used (LGPL; the interface is versioned and unchanged
 * since elfutils 0.178). */
struct client_calls {
    client *(*begin)(void);
    void (*end)(client *);
    int (*find[DEBUGINFOD_KINDS])(client *, const unsigned char *id, int id_bytes, char **ret_path);
    void (*set_progress)(client *, client_progress);
};

static const struct {
    const char *name;
    size_t at;
} client_names[] = {
    {"debuginfod_begin", offsetof(struct client_calls, begin)},
    {"debuginfod_end", offsetof(struct client_calls, end)},
    {"debuginfod_find_executable", offsetof(struct client_calls, find[DEBUGINFOD_PROGRAM])},
    {"debuginfod_find_debuginfo", offsetof(struct client_calls, find[DEBUGINFOD_DEBUG])},
    {"debuginfod_set_progressfn", offsetof(struct client_calls, set_progress)},
};

struct debuginfod {
    struct client_calls calls;
    client *client; /* NULL: not loaded yet */
    argus_progress progress;
    void *context;
    char what[128];       /* for the progress line */
    uint64_t left_ns;     /* of the command's time */
    uint64_t deadline_ns; /* for the current file; CLOCK_MONOTONIC */
    struct argus_fetched totals;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

struct debuginfod *debuginfod_create(argus_progress progress, void *context)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !urls[strspn(urls, " ")])
        return NULL;
    struct debuginfod *servers = calloc(1, sizeof(*servers));
    if (!servers)
        return NULL;
    servers->progress = progress;
    servers->context = context;
    debuginfod_renew(servers);
    return servers;
}

/* The library stays loaded, because libcurl's state is global in the process. */
void debuginfod_destroy(struct debuginfod *servers)
{
    if (servers && servers->client)
        servers->calls.end(servers->client);
    free(servers);
}

void debuginfod_renew(struct debuginfod *servers)
{
    const char *wanted = getenv("DEBUGINFOD_MAXTIME");
    long seconds = wanted ? strtol(wanted, NULL, 10) : 0;
    if (seconds <= 0 || seconds > 86400)
        seconds = USUAL_SECONDS;
    servers->left_ns = (uint64_t)seconds * NS_PER_S;
    servers->totals = (struct argus_fetched){.end = ARGUS_FETCH_OPEN};
}

const struct argus_fetched *debuginfod_totals(const struct debuginfod *servers)
{
    return &servers->totals;
}

/* --- the library --- */

/* The object for which this thread is waiting: the library's callback passes only its own
 * client. */
static _Thread_local struct debuginfod *asking;

/* Returning a value other than 0 makes the library give up the file. */
static int go_on(client *asked, long done, long total)
{
    (void)asked;
    double share = total > 0 && done > 0 ? (double)done / (double)total : 0.0;
    if (asking->progress &&
        !asking->progress(asking->context, asking->what, share < 1.0 ? share : 1.0))
        asking->totals.end = ARGUS_FETCH_INTERRUPTED;
    else if (now_ns() > asking->deadline_ns)
        asking->totals.end = ARGUS_FETCH_TOO_LONG;
    return asking->totals.end != ARGUS_FETCH_OPEN;
}

static bool load(struct debuginfod *servers)
{
    void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
    for (size_t i = 0; library && i < sizeof(client_names) / sizeof(*client_names); i++) {
        void *found = dlsym(library, client_names[i].name);
        if (!found)
            return false;
        memcpy((char *)&servers->calls + client_names[i].at, &found, sizeof(found));
    }
    servers->client = library ? servers->calls.begin() : NULL;
    if (servers->client)
        servers->calls.set_progress(servers->client, go_on);
    return servers->client;
}

static bool is_ready(struct debuginfod *servers)
{
    if (servers->totals.end == ARGUS_FETCH_OPEN && !servers->client && !load(servers))
        servers->totals.end = ARGUS_FETCH_NO_LIBRARY;
    return servers->totals.end == ARGUS_FETCH_OPEN;
}

/* --- files that were given up --- */

/* The possible folders of the library's cache. */
static const struct {
    const char *variable, *below;
} caches[] = {
    {"DEBUGINFOD_CACHE_PATH", ""},
    {"XDG_CACHE_HOME", "/debuginfod_client"},
    {"HOME", "/.cache/debuginfod_client"},
    {"HOME", "/.debuginfod_client_cache"},
};

static void remove_if_empty(const char *path)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
        unlink(path);
}

/* If the callback makes the library (0.188) give up a file, it treats this like a file that no
 * server has: it puts an empty file into its cache and does not ask again for ten minutes. This
 * removes the empty file. */
static void forget_miss(enum debuginfod_kind kind, const uint8_t *id, uint32_t id_bytes)
{
    static const char *const files[] = {"executable", "debuginfo"};
    char text[2 * ELF_BUILD_ID_MAX + 1] = "", path[4096];
    for (uint32_t i = 0; i < id_bytes && i < ELF_BUILD_ID_MAX; i++)
        snprintf(text + 2 * (size_t)i, 3, "%02x", id[i]);
    for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
        const char *folder = getenv(caches[i].variable);
        int length = folder ? snprintf(path, sizeof(path), "%s%s/%s/%s", folder, caches[i].below,
                                       text, files[kind])
                            : -1;
        if (length > 0 && length < (int)sizeof(path))
            remove_if_empty(path);
    }
}

/* --- one file --- */

/* If a server does not have the file, or it is larger than the user allows, the next file may still
 * be available. */
static void take_failure(struct argus_fetched *totals, int error)
{
    if (totals->end != ARGUS_FETCH_OPEN)
        return; /* the time limit or the user ended it */
    if (error == ENOENT || error == EFBIG) {
        totals->unknown++;
        return;
    }
    totals->end = error == ETIME ? ARGUS_FETCH_TOO_LONG : ARGUS_FETCH_FAILED;
    totals->error = error;
}

int debuginfod_fetch(struct debuginfod *servers, enum debuginfod_kind kind, const uint8_t *id,
                     uint32_t id_bytes, const char *name, char **ret_path)
{
    *ret_path = NULL;
    if (!id_bytes || !is_ready(servers))
        return -1;
    uint64_t begin_ns = now_ns();
    servers->deadline_ns = begin_ns + servers->left_ns;
    snprintf(servers->what, sizeof(servers->what), "fetching %s%s",
             kind == DEBUGINFOD_DEBUG ? "symbols of " : "", name);
    asking = servers;
    int fd = servers->calls.find[kind](servers->client, id, (int)id_bytes, ret_path);
    asking = NULL;
    uint64_t took_ns = now_ns() - begin_ns;
    servers->left_ns -= took_ns < servers->left_ns ? took_ns : servers->left_ns;
    if (fd >= 0) {
        servers->totals.files++;
        return fd;
    }
    take_failure(&servers->totals, -fd);
    if (servers->totals.end != ARGUS_FETCH_OPEN)
        forget_miss(kind, id, id_bytes);
    return -1;
}
