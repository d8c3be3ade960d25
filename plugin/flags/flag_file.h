/* Flags that were chosen once: a text file, argus-flags(5), a line for each. */
#ifndef ARGUS_PLUGIN_FLAG_FILE_H
#define ARGUS_PLUGIN_FLAG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"
#include "recorder/client.h"

/* What the user wants of a flag, wherever it is. */
struct flag_wish {
    char image[400];         /* path of the file that has it */
    char place[300];         /* "did_reconfigure", "display+0x8->0x18", "0x4010" */
    char name[200];          /* what a person calls it */
    uint32_t bytes;          /* 0: as large as the variable */
    uint32_t access;         /* enum flag_access */
    uint32_t semantics;      /* enum argus_flag_semantics */
    uint8_t build_id[20];    /* of the image when it was chosen */
    uint32_t build_id_bytes; /* 0: it has none */
    uint32_t line;           /* in the file, from 1 on */
};

struct flag_wishes {
    VEC(struct flag_wish) wishes;
};

/* "flip": one of them; USAGE otherwise. */
struct argus_error *flag_wish_semantics(const char *text, uint32_t *ret);
struct argus_error *flag_wish_access(const char *text, uint32_t *ret);
const char *flag_semantics_name(uint32_t semantics);

/* Adds the lines of the file. An error names file, line and reason. */
struct argus_error *flag_wishes_read(struct flag_wishes *wishes, const char *path);
/* The same of text; `name` is for errors. */
struct argus_error *flag_wishes_parse(struct flag_wishes *wishes, const char *name, char *text);
void flag_wishes_deinit(struct flag_wishes *wishes);

/* Appends a line to the file, which is made if there is none; not a line that it has already (`*ret_added` false). */
struct argus_error *flag_wish_save(const struct flag_wish *wish, const char *path, bool *ret_added);

/* As a plan for the recorder: looks up the flag in its image as it is now. */
struct argus_error *flag_wish_plan(const struct flag_wish *wish, struct request_flag *ret);

#endif
