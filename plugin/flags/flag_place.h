/* The place of a data flag, from the user's notation: PID ADDRESS, or PID IMAGE SYMBOL[+OFFSET].
 * Each can be followed by pointers: "display+0x8->0x18" is the address that the word at display+0x8
 * holds, plus 0x18. If the file has debug information, members can be named: "app->net->state". */
#ifndef ARGUS_PLUGIN_FLAG_PLACE_H
#define ARGUS_PLUGIN_FLAG_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "argus/data_symbols.h"
#include "argus/error.h"

#define FLAG_PLACE_STEPS 4

struct flag_place {
    uint64_t address; /* of the flag, or, if there are pointers, of the first pointer */
    uint64_t steps[FLAG_PLACE_STEPS]; /* offset that is added after each pointer */
    uint32_t step_count;
    bool is_thread_local;
    uint64_t size_bytes; /* of the rest of the variable or member, from the flag on; 0: not known */
    char label[200];     /* "flag+4 in libfoo.so" */
};

/* `text` is an address or a number: "0x7f…", "4096"; USAGE otherwise. */
struct argus_error *flag_place_number(const char *what, const char *text, uint64_t *ret);

/* Finds the address of a flag. SYMBOL may be an address in the file ("0x4010"), for programs
 * without symbols. For a thread-local variable, the address is that of thread `tid`'s copy.
 * NOT_FOUND names similar symbols. */
struct argus_error *flag_place_address(const char *text, struct flag_place *ret);

/* Splits "display+0x8->0x18" into the name and the numbers. `ret_name` has room for
 * `name_bytes`. */
struct argus_error *flag_place_parse(const char *text, char *ret_name, size_t name_bytes,
                                     uint64_t *ret_offset, struct flag_place *ret);

/* Whether it names members, which flag_place_parse() does not know ("app->net->state", "table[3]");
 * perhaps not, if a symbol itself has such letters. */
bool flag_place_has_members(const char *text);

/* Moves the place from the beginning of its variable to `offset`. `member_bytes`: the size of the
 * member there; 0 means that the size is not known, and that the rest of the variable counts. */
void flag_place_move(struct flag_place *place, uint64_t offset, uint64_t member_bytes);

/* Makes the error that a file has no such variable, with similar names among those that `each`
 * enumerates (argus_data_symbols_each() and similar functions). */
struct argus_error *
flag_place_not_found(const char *image, const char *name,
                     struct argus_error *(*each)(void *context, argus_data_symbol_function function,
                                                 void *function_context),
                     void *context);
/* The largest part of the variable that one register can watch: 1, 2, 4 or 8 bytes. */
uint32_t flag_natural_size(const struct flag_place *place);

struct argus_error *flag_place_symbol(uint32_t pid, uint32_t tid, const char *image,
                                      const char *symbol, struct flag_place *ret);

#endif
