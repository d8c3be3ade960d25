/* The victim waits for the archivist, and the archivist for the disk: repeated fsync() of much
 * data. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "scene.h"

#define PIECE_BYTES (8u << 20)

static char *piece;
static struct line archive; /* the victim's end */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* The culprit: writes all data to the disk. */
static void make_durable(int fd)
{
    if (fsync(fd) != 0)
        scene_fail("fsync");
}

static void write_archive(const struct work *work, unsigned ms)
{
    char name[] = "/var/tmp/sync-archive-XXXXXX";
    int fd = mkstemp(name);
    double end_ms = now_ms() + ms;
    (void)work;
    if (fd < 0)
        scene_fail(name);
    unlink(name);
    do {
        if (pwrite(fd, piece, ms > 100 ? PIECE_BYTES : 4096, 0) < 0)
            scene_fail("pwrite");
        make_durable(fd);
    } while (now_ms() < end_ms);
    close(fd);
}

static void be_archivist(void *context)
{
    line_serve(*(struct line *)context, write_archive);
}

static void handle_event(void *context, bool hang)
{
    struct scene *scene = context;
    line_ask(archive, (struct work){.before_ms = hang ? scene->hang_ms : 2, .sleeping = true});
}

int main(int argc, char **argv)
{
    static struct scene scene;
    struct line ends[2];
    scene_begin(&scene, argc, argv, "unix");
    piece = malloc(PIECE_BYTES);
    memset(piece, 'a', PIECE_BYTES);
    scene_connect(&scene, ends);
    archive = ends[0];
    scene_process("archivist", be_archivist, &ends[1]);
    scene_run(&scene, handle_event, &scene);
}
