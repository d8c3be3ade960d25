/* The program argus-hook: its verbs, and what they share. */
#ifndef ARGUS_HOOKS_HOOK_COMMAND_H
#define ARGUS_HOOKS_HOOK_COMMAND_H

#include "build_plan.h"

struct hook_options {
    const char *image;   /* --image: the file, under any name in the table; NULL */
    const char *output;  /* --output; NULL */
    const char *replace; /* --replace: a folder; NULL */
    enum hook_arch arch; /* --arch; 0: the image's */
    char **words;        /* after the verb; NULL-terminated */
    int count;
};

/* An image of a table, opened, and the hooks for it. */
struct prepared {
    struct hook_table table;
    struct image *image;
    struct decoder *decoder;
    struct planned_hooks hooks;
    char *name; /* as in the table; owned */
};

/* Reads the table at `path` and prepares the hooks of its `index`th image. `*ret_more`: there is
 * another image. */
struct argus_error *prepare(const struct hook_options *options, const char *path, size_t index,
                            struct prepared *ret, bool *ret_more);
void prepared_deinit(struct prepared *prepared);

/* Writes the library for `prepared` to `path`. */
struct argus_error *write_library(const struct hook_options *options,
                                  const struct prepared *prepared, const char *path);
/* Writes a file; an existing one is replaced, a link is not followed. */
struct argus_error *write_file(const char *path, const uint8_t *bytes, size_t count);

/* The verbs; hook_main.c has their table. */
struct argus_error *verb_check(const struct hook_options *options);
struct argus_error *verb_show(const struct hook_options *options);
struct argus_error *verb_make(const struct hook_options *options);
struct argus_error *verb_run(const struct hook_options *options);

#endif
