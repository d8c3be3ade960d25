/* Saved flags: a text file, argus-flags(5), with one flag per line. */
#ifndef ARGUS_PLUGIN_FLAG_FILE_H
#define ARGUS_PLUGIN_FLAG_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "argus/error.h"
#include "base/vec.h"
#include "recorder/client/client.h"

/* A flag that the user wants to watch, wherever it is mapped. */
struct flag_wish {
    char image[400];         /* path of the file that contains it */
    char place[300];         /* "did_reconfigure", "display+0x8->0x18", "0x4010" */
    char name[200];          /* the user's name for it */
    uint32_t bytes;          /* 0: as large as the variable */
    uint32_t access;         /* enum flag_access */
    uint32_t semantics;      /* enum argus_flag_semantics */
    uint8_t build_id[20];    /* of the image when it was chosen */
    uint32_t build_id_bytes; /* 0: it has none */
    uint32_t line;           /* line number in the file, from 1 */
};

struct flag_wishes {
    VEC(struct flag_wish) wishes;
};

/* Parses a word such as "flip"; USAGE if it is unknown. */
struct argus_error *flag_wish_semantics(const char *text, uint32_t *ret);
struct argus_error *flag_wish_access(const char *text, uint32_t *ret);
const char *flag_semantics_name(uint32_t semantics);

/* Adds the lines of the file. An error names file, line and reason. */
struct argus_error *flag_wishes_read(struct flag_wishes *wishes, const char *path);
/* Same for text in memory; `name` is for errors. */
struct argus_error *flag_wishes_parse(struct flag_wishes *wishes, const char *name, char *text);
void flag_wishes_deinit(struct flag_wishes *wishes);

/* Appends a line to the file, which is created if it does not exist. A line that it already
 * contains is not added again (`*ret_added` false). */
struct argus_error *flag_wish_save(const struct flag_wish *wish, const char *path, bool *ret_added);

/* Makes a plan for the recorder: looks up the flag in its image as the file is now. */
struct argus_error *flag_wish_plan(const struct flag_wish *wish, struct request_flag *ret);

#endif
