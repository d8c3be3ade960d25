#include "plugin/probes/probe_sender.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain_names.h"
#include "event/binary/elf_symbols.h"
#include "plugin/probes/probe_files.h"
#include "plugin/probes/probe_place.h"

/* A pattern row of a user's rules, and its matches in the current file. */
struct pattern {
    size_t row;
    bool found;
};

/* A function that matches a pattern. Compilers give one function several names (constructors); each
 * address gets only one probe per row. */
struct place {
    size_t row;
    uint64_t file_offset;
    char *name; /* owned */
};

/* A pattern such as * would match more functions than can be usefully probed. */
#define PLACES_OF_A_FILE 200

struct sender {
    struct probe_table *table;
    struct recorder_client *client; /* borrowed */
    struct probe_files files;
    VEC(const char *) libraries; /* each once; borrowed from the table */
    VEC(struct elf_wanted) wanted;
    VEC(size_t) rows; /* indices into `wanted` */
    VEC(struct pattern) patterns;
    VEC(struct place) places;
    bool no_memory;
    uint32_t sent;
    uint8_t code[PROBE_PLACE_CODE]; /* of the function to probe */
};

/* A list in a sentence. If it grows too long for a request, it ends with an ellipsis. */
struct sentence {
    char text[900];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void say(struct sentence *sentence, const char *format,
                                                      ...)
{
    va_list args;
    size_t room = sizeof(sentence->text) - 8 - sentence->used;
    va_start(args, format);
    int length = vsnprintf(sentence->text + sentence->used, room, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < room)
        sentence->used += (size_t)length;
    else
        snprintf(sentence->text + sentence->used, sizeof(sentence->text) - sentence->used, " …");
}

static struct argus_error *collect_libraries(struct sender *sender)
{
    for (size_t i = 0; i < sender->table->rows.length; i++) {
        const char *library = sender->table->rows.data[i].library;
        bool known = false;
        for (size_t k = 0; k < sender->libraries.length; k++)
            known |= strcmp(sender->libraries.data[k], library) == 0;
        if (!known && !vec_push(&sender->libraries, library))
            return argus_error_memory();
    }
    return NULL;
}

static bool want(struct sender *sender, size_t row)
{
    const struct probe_symbol *symbol = &sender->table->rows.data[row].symbol;
    struct elf_wanted wanted = {
        .name = symbol->name,
        .data_offset = symbol->offset,
        .is_pointer = symbol->is_pointer,
    };
    return vec_push(&sender->wanted, wanted) && vec_push(&sender->rows, row);
}

/* Collects what the rows of one library look for: names, and patterns. */
static bool want_rows(struct sender *sender, const char *library)
{
    sender->wanted.length = sender->rows.length = sender->patterns.length = 0;
    for (size_t i = 0; i < sender->table->rows.length; i++) {
        const struct probe_row *row = &sender->table->rows.data[i];
        struct pattern pattern = {.row = i};
        if (strcmp(row->library, library) != 0)
            continue;
        if (row->symbol.is_pattern ? !vec_push(&sender->patterns, pattern) : !want(sender, i))
            return false;
    }
    return true;
}

/* Shortens a path at its beginning, because the end tells more. */
static void put_path(const char *path, size_t room, char *ret)
{
    size_t length = strlen(path);
    if (length < room)
        snprintf(ret, room, "%s", path);
    else
        snprintf(ret, room, "...%s", path + length - room + 4);
}

/* Moves the probe from the function's beginning at `file_offset` to where it costs least. */
static void put_place(struct sender *sender, int fd, uint64_t file_offset,
                      struct request_probe *ret)
{
    ssize_t bytes = pread(fd, sender->code, sizeof(sender->code), (off_t)file_offset);
    struct probe_place place =
        probe_place_find(sender->code, bytes < 0 ? 0 : (size_t)bytes, &ret->spec);
    ret->offset = file_offset + place.offset;
    ret->spec.stack_bytes = place.stack_bytes;
}

static struct argus_error *send_one(struct sender *sender, const struct probe_library_file *file,
                                    const struct probe_row *row, const char *symbol,
                                    uint64_t file_offset)
{
    struct request_probe request = {
        .number = sender->sent,
        .spec = row->spec,
    };
    put_place(sender, file->fd, file_offset, &request);
    put_path(file->path, sizeof(request.library), request.library);
    snprintf(request.symbol, sizeof(request.symbol), "%s", symbol);
    snprintf(request.label, sizeof(request.label), "%s", row->label);
    struct argus_error *error = recorder_probe(sender->client, &request, file->fd);
    if (!error)
        sender->sent++;
    return error;
}

/* A hundred thousand libraries cannot all be probed; the recorder has a limit. */
static bool is_full(const struct sender *sender)
{
    return sender->sent >= PROBE_LIMIT;
}

static struct argus_error *send_found(struct sender *sender, const struct probe_library_file *file,
                                      struct sentence *missing)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < sender->wanted.length && !error && !is_full(sender); i++) {
        const struct probe_row *row = &sender->table->rows.data[sender->rows.data[i]];
        if (sender->wanted.data[i].found)
            error = send_one(sender, file, row, row->text, sender->wanted.data[i].file_offset);
        else
            say(missing, "%s %s", missing->used ? "," : "", row->text);
    }
    return error;
}

/* --- patterns --- */

static bool is_place(const struct sender *sender, size_t row, uint64_t file_offset)
{
    for (size_t i = 0; i < sender->places.length; i++)
        if (sender->places.data[i].row == row && sender->places.data[i].file_offset == file_offset)
            return true;
    return false;
}

static void add_place(struct sender *sender, size_t row, const char *name, uint64_t file_offset)
{
    struct place place = {.row = row, .file_offset = file_offset, .name = strdup(name)};
    if (place.name && vec_push(&sender->places, place))
        return;
    free(place.name);
    sender->no_memory = true;
}

/* A callback for elf_symbols_each(). */
static bool take_function(void *context, const char *name, uint64_t file_offset)
{
    struct sender *sender = context;
    for (size_t i = 0; i < sender->patterns.length; i++) {
        struct pattern *pattern = &sender->patterns.data[i];
        const struct probe_symbol *symbol = &sender->table->rows.data[pattern->row].symbol;
        if (is_place(sender, pattern->row, file_offset) || plain_is_cold_part(name) ||
            !argus_function_matches(symbol->name, name))
            continue;
        pattern->found = sender->table->rows.data[pattern->row].found = true;
        if (sender->places.length < PLACES_OF_A_FILE)
            add_place(sender, pattern->row, name, file_offset);
    }
    return !sender->no_memory;
}

static void forget_places(struct sender *sender)
{
    for (size_t i = 0; i < sender->places.length; i++)
        free(sender->places.data[i].name);
    sender->places.length = 0;
}

static struct argus_error *send_patterns(struct sender *sender,
                                         const struct probe_library_file *file,
                                         struct sentence *missing)
{
    struct argus_error *error = NULL;
    if (!sender->patterns.length)
        return NULL;
    forget_places(sender);
    elf_symbols_each(file->fd, file->path, take_function, sender);
    if (sender->no_memory)
        return argus_error_memory();
    for (size_t i = 0; i < sender->places.length && !error && !is_full(sender); i++) {
        const struct place *place = &sender->places.data[i];
        error = send_one(sender, file, &sender->table->rows.data[place->row], place->name,
                         place->file_offset);
    }
    for (size_t i = 0; i < sender->patterns.length; i++)
        if (!sender->patterns.data[i].found)
            say(missing, "%s %s", missing->used ? "," : "",
                sender->table->rows.data[sender->patterns.data[i].row].text);
    return error;
}

/* --- libraries --- */

static struct argus_error *say_missing(struct sender *sender, const struct probe_library_file *file,
                                       const struct sentence *missing)
{
    struct sentence sentence = {0};
    struct argus_error *error = NULL;
    if (missing->used) {
        say(&sentence, "%s has no symbol%s", file->path, missing->text);
        error = recorder_probe_absent(sender->client, sentence.text);
    }
    if (error || sender->places.length < PLACES_OF_A_FILE)
        return error;
    sentence = (struct sentence){0};
    say(&sentence, "rules fit more than %d functions of %s: the others are left out",
        PLACES_OF_A_FILE, file->path);
    return recorder_probe_absent(sender->client, sentence.text);
}

static struct argus_error *send_file(struct sender *sender, const struct probe_library_file *file)
{
    struct sentence sentence = {0}, missing = {0};
    if (!want_rows(sender, sender->libraries.data[file->library]))
        return argus_error_memory();
    if (!elf_symbols_find(file->fd, file->path, sender->wanted.data, sender->wanted.length)) {
        say(&sentence, "%s is not a library for this machine", file->path);
        return recorder_probe_absent(sender->client, sentence.text);
    }
    struct argus_error *error = send_found(sender, file, &missing);
    if (!error)
        error = send_patterns(sender, file, &missing);
    return error ? error : say_missing(sender, file, &missing);
}

static struct argus_error *say_absent(struct sender *sender)
{
    struct sentence sentence = {0};
    for (size_t i = 0; i < sender->libraries.length; i++) {
        bool there = false;
        for (size_t k = 0; k < sender->files.files.length; k++)
            there |= sender->files.files.data[k].library == i;
        if (!there)
            say(&sentence, "%s%s",
                sentence.used ? ", " : "not installed: ", sender->libraries.data[i]);
    }
    struct argus_error *error = NULL;
    if (sentence.used)
        error = recorder_probe_absent(sender->client, sentence.text);
    if (!error && is_full(sender))
        error = recorder_probe_absent(sender->client, "there are more places than can be probed");
    return error;
}

static struct argus_error *send_all(struct sender *sender)
{
    struct argus_error *error = collect_libraries(sender);
    if (!error)
        error = probe_files_find(sender->libraries.data, sender->libraries.length, &sender->files);
    for (size_t i = 0; i < sender->files.files.length && !error && !is_full(sender); i++)
        error = send_file(sender, &sender->files.files.data[i]);
    return error ? error : say_absent(sender);
}

struct argus_error *probes_send(struct probe_table *table, struct recorder_client *client,
                                size_t *ret_probes, size_t *ret_files)
{
    struct sender sender = {.table = table, .client = client};
    struct argus_error *error = send_all(&sender);
    *ret_probes = sender.sent;
    *ret_files = sender.files.files.length;
    probe_files_deinit(&sender.files);
    vec_deinit(&sender.libraries);
    vec_deinit(&sender.wanted);
    vec_deinit(&sender.rows);
    vec_deinit(&sender.patterns);
    forget_places(&sender);
    vec_deinit(&sender.places);
    return error;
}
