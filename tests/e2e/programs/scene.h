/* What all programs with a known cause share: a victim with an event loop, a user who sends it
 * input, and busy bystanders that are unrelated to the hang. A program adds the processes that make
 * the victim wait.
 *
 *     user ──'n' 'n' … 'h' 'n' 'n' 'q'──▶ victim (poll loop, one call of handle() for each byte)
 *
 * 'n' is an event that goes well, 'h' the one that hangs, 'q' the end. Input goes on during the
 * hang. With the word "script" in --variant there is neither user nor event loop: the victim calls
 * handle() itself, with pauses. Every program takes --seed, --hang-ms, --rounds (events before the
 * hang) and --variant, and the seed moves all durations, so that no case is a single fixed timing.
 */
#ifndef SCENE_H
#define SCENE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct scene {
    unsigned seed;
    unsigned hang_ms; /* how long the bad event takes */
    unsigned rounds;
    const char *variant; /* borrowed from argv, or the program's default */
    int input_fd;        /* where the victim's events arrive */
    /* The same bytes, 2 ms earlier, for a process that has to prepare something; or -1. */
    int hint_fd;
};

/* Two ends of a connection; for pipes the descriptors differ. */
struct line {
    int in, out;
};

/* A request to the servers of the scenes: how long to compute or sleep before the reply and after
 * it. */
struct work {
    unsigned before_ms, after_ms;
    bool sleeping; /* sleep instead of computing */
};

/* Reads the options, names this process "victim" and makes the input pipe. Ends the process on wrong usage. */
void scene_begin(struct scene *scene, int argc, char **argv, const char *default_variant);

/* Starts user and bystanders, handles events until 'q', and ends the process with all its children. */
_Noreturn void scene_run(struct scene *scene, void (*handle)(void *context, bool hang),
                         void *context);

/* Like scene_run(), with a custom wait for input: `wait` returns when scene->input_fd is
 * readable. */
_Noreturn void scene_run_with(struct scene *scene, void (*wait)(int fd),
                              void (*handle)(void *context, bool hang), void *context);

/* Is `word` one of the comma-separated words of --variant? */
bool scene_variant(const struct scene *scene, const char *word);

/* Forks a process named `name` (15 bytes) that runs `body` and dies with its parent. */
pid_t scene_process(const char *name, void (*body)(void *), void *context);
void scene_thread(pthread_t *ret, const char *name, void *(*body)(void *), void *context);

/* Computes, or sleeps in the kernel, for so long by the wall clock. */
void scene_burn(unsigned ms);
void scene_sleep(unsigned ms);
void scene_work(const struct work *work, unsigned ms);

/* `ms` moved by up to a quarter, up or down, by the scene's seed. */
unsigned scene_jitter(struct scene *scene, unsigned ms);

/* A connection of the kind that --variant names: pipe, tcp (loopback), else a unix socket pair. */
void scene_connect(const struct scene *scene, struct line ret[2]);

/* Exactly `size` bytes. False at the end of the connection. */
bool line_send(struct line line, const void *message, size_t size);
bool line_receive(struct line line, void *message, size_t size);

/* Sends `work` and waits for the one-byte reply. */
bool line_ask(struct line line, struct work work);

/* Receives requests, works and replies, until the connection ends. */
void line_serve(struct line line, void (*work_function)(const struct work *, unsigned ms));

__attribute__((noreturn)) void scene_fail(const char *what);

#endif
