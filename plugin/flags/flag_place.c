#include "plugin/flags/flag_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "argus/data_symbols.h"
#include "plugin/nearest.h"
#include "plugin/steps/thread_local.h"

#define CLOSE_NAMES 3

struct symbol_search {
    struct nearest nearest;
    char close[CLOSE_NAMES][120]; /* the closest names so far, the best one last */
};

struct argus_error *flag_place_number(const char *what, const char *text, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 0);
    if (errno || end == text || *end || text[0] == '-')
        return argus_error_create(ARGUS_ERROR_USAGE, "'%s' is not %s", text, what);
    *ret = number;
    return NULL;
}

static void keep_close(struct symbol_search *search, const char *name)
{
    const char *before = search->nearest.best;
    nearest_offer(&search->nearest, name);
    if (search->nearest.best == before)
        return;
    memmove(search->close[0], search->close[1], sizeof(search->close[0]) * (CLOSE_NAMES - 1));
    snprintf(search->close[CLOSE_NAMES - 1], sizeof(search->close[0]), "%s", name);
    /* a copy, because `name` is only valid during the call */
    search->nearest.best = search->close[CLOSE_NAMES - 1];
}

static bool look_at_symbol(void *context, const char *name, const struct argus_data_symbol *symbol)
{
    (void)symbol;
    keep_close(context, name);
    return true;
}

struct argus_error *
flag_place_not_found(const char *image, const char *name,
                     struct argus_error *(*each)(void *context, argus_data_symbol_function function,
                                                 void *function_context),
                     void *context)
{
    struct symbol_search search = {0};
    nearest_init(&search.nearest, name);
    struct argus_error *error = each(context, look_at_symbol, &search);
    if (error)
        return error;
    char names[CLOSE_NAMES * 124] = "";
    for (int i = CLOSE_NAMES - 1; i >= 0; i--) {
        size_t length = strlen(names);
        if (search.close[i][0])
            snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "; close are ",
                     search.close[i]);
    }
    return argus_error_create(ARGUS_ERROR_NOT_FOUND, "%s has no variable '%s'%s", image, name,
                              names);
}

struct of_process {
    uint32_t pid;
    const char *image;
};

static struct argus_error *each_of_process(void *context, argus_data_symbol_function function,
                                           void *function_context)
{
    const struct of_process *of = context;
    return argus_data_symbols_each(of->pid, of->image, function, function_context);
}

/* --- parsing --- */

static struct argus_error *split_steps(char *text, struct flag_place *ret)
{
    char *arrow = strstr(text, "->");
    struct argus_error *error = NULL;
    while (arrow && !error) {
        *arrow = '\0';
        char *step = arrow + 2;
        arrow = strstr(step, "->");
        if (arrow)
            *arrow = '\0';
        if (ret->step_count == FLAG_PLACE_STEPS)
            return argus_error_create(ARGUS_ERROR_USAGE, "more than %d pointers lead to the flag",
                                      FLAG_PLACE_STEPS);
        error =
            flag_place_number("an offset after a pointer", step, &ret->steps[ret->step_count++]);
    }
    return error;
}

/* "symbol+0x10": removes the offset from the text and returns it. */
static struct argus_error *split_offset(char *symbol, uint64_t *ret)
{
    char *plus = strrchr(symbol, '+');
    *ret = 0;
    if (!plus || plus == symbol)
        return NULL;
    *plus = '\0';
    return flag_place_number("an offset", plus + 1, ret);
}

struct argus_error *flag_place_parse(const char *text, char *ret_name, size_t name_bytes,
                                     uint64_t *ret_offset, struct flag_place *ret)
{
    *ret = (struct flag_place){0};
    if ((size_t)snprintf(ret_name, name_bytes, "%s", text) >= name_bytes)
        return argus_error_create(ARGUS_ERROR_USAGE, "a name of %zu letters is too long",
                                  strlen(text));
    struct argus_error *error = split_steps(ret_name, ret);
    if (!error)
        error = split_offset(ret_name, ret_offset);
    if (!error && !ret_name[0])
        error = argus_error_create(ARGUS_ERROR_USAGE, "'%s' names no variable", text);
    return error;
}

bool flag_place_has_members(const char *text)
{
    for (const char *arrow = text; (arrow = strstr(arrow, "->")); arrow += 2)
        if (arrow[2] < '0' || arrow[2] > '9')
            return true;
    return text[strcspn(text, ".[")];
}

void flag_place_move(struct flag_place *place, uint64_t offset, uint64_t member_bytes)
{
    bool is_inside = !place->step_count && place->size_bytes > offset;
    place->address += offset;
    place->size_bytes = member_bytes ? member_bytes : is_inside ? place->size_bytes - offset : 0;
}

struct argus_error *flag_place_address(const char *text, struct flag_place *ret)
{
    char base[512];
    uint64_t offset;
    struct argus_error *error = flag_place_parse(text, base, sizeof(base), &offset, ret);
    snprintf(ret->label, sizeof(ret->label), "%s", text);
    if (!error)
        error =
            flag_place_number("an address (PID IMAGE SYMBOL, or PID ADDRESS)", base, &ret->address);
    ret->address += offset;
    return error;
}

/* --- finding the address --- */

static struct argus_error *find_symbol(uint32_t pid, uint32_t tid, const char *image,
                                       const char *name, struct flag_place *ret)
{
    struct argus_data_symbol symbol;
    struct of_process of = {pid, image};
    bool found;
    struct argus_error *error = argus_data_symbol_find(pid, image, name, &symbol, &found);
    if (error)
        return error;
    if (!found)
        return flag_place_not_found(image, name, each_of_process, &of);
    ret->address = symbol.address;
    ret->size_bytes = symbol.size_bytes;
    ret->is_thread_local = symbol.is_thread_local;
    return symbol.is_thread_local ? thread_local_address(pid, tid, &symbol, &ret->address) : NULL;
}

struct argus_error *flag_place_symbol(uint32_t pid, uint32_t tid, const char *image,
                                      const char *symbol, struct flag_place *ret)
{
    char name[512];
    uint64_t offset, base = 0;
    struct argus_data_place place = {.bytes = 0};
    bool has_members = flag_place_has_members(symbol);
    struct argus_error *error =
        has_members ? argus_data_members_read(pid, image, symbol, &place) : NULL;
    if (!error)
        error =
            flag_place_parse(has_members ? place.text : symbol, name, sizeof(name), &offset, ret);
    snprintf(ret->label, sizeof(ret->label), "%s in %s", symbol, image);
    if (error)
        return error;
    if (name[0] == '0') {
        error = flag_place_number("an address in the file", name, &ret->address);
        if (!error)
            error = argus_image_base(pid, image, &base);
        ret->address += base;
    } else {
        error = find_symbol(pid, tid, image, name, ret);
    }
    flag_place_move(ret, offset, place.bytes);
    return error;
}
