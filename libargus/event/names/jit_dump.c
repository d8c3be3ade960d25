/* A dump is a sequence of records, each with its length. A record about loaded code has the
 * function's name; a record before it has the lines. Code can be moved. It can also be discarded
 * without a record when other code is loaded to the same address; so the last record for an address
 * counts, as in jit_map.c.
 */
#include "event/names/jit_dump.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vec.h"
#include "event/binary/live_file.h"
#include "event/names/made_names.h"

enum { MAGIC = 0x4a695444, NAME_BYTES = 4096, MOST_LINES = 1 << 16 };

enum record_kind { CODE_LOAD = 0, CODE_MOVE = 1, DEBUG_INFO = 2, CODE_CLOSE = 3 };

struct header {
    uint32_t magic, version, bytes, machine, padding, pid;
    uint64_t time, flags;
};

struct prefix {
    uint32_t kind, bytes;
    uint64_t time;
};

struct load {
    uint32_t pid, tid;
    uint64_t vma, address, bytes, index;
};

struct move {
    uint32_t pid, tid;
    uint64_t vma, from, to, bytes, index;
};

struct debug {
    uint64_t address, count;
};

struct debug_line {
    uint64_t address;
    uint32_t line, discriminator;
};

/* A line of the code that the next load record is about. */
struct line {
    uint64_t address;
    const char *source;
    uint32_t line;
};

struct reading {
    FILE *dump;
    struct argus_name_entry *names;
    size_t count;
    struct strtab *texts;
    uint64_t left; /* unread bytes of the current record */
    VEC(struct line) lines;
    uint64_t lines_of; /* address of the code that the lines belong to */
    struct argus_error *error;
};

/* --- reading --- */

static bool take(struct reading *reading, void *ret, size_t bytes)
{
    if (bytes > reading->left || fread(ret, 1, bytes, reading->dump) != bytes)
        return false;
    reading->left -= bytes;
    return true;
}

/* Reads a text up to its NUL; cuts it off if it does not fit. NULL: it does not end inside the
 * record. */
static const char *take_text(struct reading *reading)
{
    char text[NAME_BYTES];
    size_t length = 0;
    int c;
    do {
        c = reading->left ? getc(reading->dump) : EOF;
        if (c == EOF)
            return NULL;
        reading->left--;
        if (length < sizeof(text))
            text[length++] = (char)c;
    } while (c);
    uint32_t id;
    reading->error = strtab_intern(reading->texts, text, length, &id);
    return reading->error ? NULL : strtab_get(reading->texts, id);
}

/* --- names --- */

/* The last line entry that begins at or before `place`; without one, what the function's name
 * tells. */
static void put_line(const struct reading *reading, struct argus_name_entry *name)
{
    const struct line *best = NULL;
    for (size_t i = 0; i < reading->lines.length; i++) {
        const struct line *line = &reading->lines.data[i];
        if (line->address <= name->place && (!best || line->address >= best->address))
            best = line;
    }
    if (!best || !best->source[0])
        return;
    name->source = best->source;
    name->line = best->line;
}

static void name_code(struct reading *reading, const struct load *load, const char *function)
{
    struct argus_name_entry read;
    reading->error = made_name_read(function, reading->texts, &read);
    if (reading->error)
        return;
    if (reading->lines_of != load->address)
        reading->lines.length = 0;
    struct made_range range =
        made_names_within(reading->names, reading->count, load->address, load->bytes);
    for (size_t i = range.first; i < range.end; i++) {
        made_name_put(&read, load->address, &reading->names[i]);
        put_line(reading, &reading->names[i]);
    }
    reading->lines.length = 0;
}

/* --- records: each function returns false if the dump is malformed --- */

static bool take_load(struct reading *reading)
{
    struct load load;
    if (!take(reading, &load, sizeof(load)))
        return false;
    const char *function = take_text(reading);
    if (function && function[0])
        name_code(reading, &load, function);
    return function && !reading->error;
}

/* Names move with the code: a place in the new range gets the name of the old place, if the old
 * place was requested too. */
static bool take_move(struct reading *reading)
{
    struct move move;
    if (!take(reading, &move, sizeof(move)))
        return false;
    struct made_range range =
        made_names_within(reading->names, reading->count, move.to, move.bytes);
    for (size_t i = range.first; i < range.end; i++) {
        struct argus_name_entry *name = &reading->names[i];
        /* the name of the previous code is no longer valid, and that of the new code is unknown */
        name->function = name->source = "";
        name->has_start = false;
        name->distance = name->line = 0;
        name->lack = ARGUS_LACK_JIT;
    }
    return true;
}

static bool take_debug(struct reading *reading)
{
    struct debug debug;
    const char *source = "";
    reading->lines.length = 0;
    if (!take(reading, &debug, sizeof(debug)))
        return false;
    reading->lines_of = debug.address;
    for (uint64_t i = 0; i < debug.count && i < MOST_LINES; i++) {
        struct debug_line entry;
        const char *text = take(reading, &entry, sizeof(entry)) ? take_text(reading) : NULL;
        if (!text)
            return false;
        if (strcmp(text, "\xff") != 0) /* "\xff": the same file as in the previous entry */
            source = text;
        struct line line = {entry.address, source, entry.line};
        if (!vec_push(&reading->lines, line)) {
            reading->error = argus_error_memory();
            return false;
        }
    }
    return true;
}

static bool take_record(struct reading *reading, const struct prefix *prefix)
{
    static bool (*const kinds[])(struct reading *) = {
        [CODE_LOAD] = take_load, [CODE_MOVE] = take_move, [DEBUG_INFO] = take_debug};
    bool known = prefix->kind < sizeof(kinds) / sizeof(*kinds);
    if (known && !kinds[prefix->kind](reading))
        return false;
    return fseeko(reading->dump, (off_t)reading->left, SEEK_CUR) == 0;
}

static bool take_header(struct reading *reading)
{
    struct header header;
    reading->left = sizeof(header);
    return take(reading, &header, sizeof(header)) && header.magic == MAGIC && header.version == 1 &&
           header.bytes >= sizeof(header) &&
           fseeko(reading->dump, (off_t)(header.bytes - sizeof(header)), SEEK_CUR) == 0;
}

struct argus_error *jit_dump_read(FILE *dump, struct argus_name_entry *names, size_t count,
                                  struct strtab *texts)
{
    struct reading reading = {.dump = dump, .names = names, .count = count, .texts = texts};
    uint64_t taken = 0;
    bool good = take_header(&reading);
    while (good && taken < JIT_DUMP_MOST_BYTES) {
        struct prefix prefix;
        reading.left = sizeof(prefix);
        good = take(&reading, &prefix, sizeof(prefix)) && prefix.bytes >= sizeof(prefix) &&
               prefix.kind != CODE_CLOSE;
        reading.left = good ? prefix.bytes - sizeof(prefix) : 0;
        taken += prefix.bytes;
        good = good && take_record(&reading, &prefix);
    }
    vec_deinit(&reading.lines);
    return reading.error;
}

/* --- finding --- */

static bool is_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (strncmp(name, "jit-", 4) != 0)
        return false;
    return strcmp(name + 4 + strspn(name + 4, "0123456789"), ".dump") == 0;
}

/* The owner of the file itself, if its process has ended. */
static int open_by_path(const struct argus_image_entry *image)
{
    struct stat status;
    int fd = open(image->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -1;
    bool good = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                (!image->inode || image->inode == status.st_ino);
    if (good)
        return fd;
    close(fd);
    return -1;
}

FILE *jit_dump_open(const struct argus_image_entry *image)
{
    bool denied;
    if (!is_name(image->path))
        return NULL;
    int fd = live_file_open(image, &denied);
    if (fd < 0)
        fd = open_by_path(image);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
    if (!file && fd >= 0)
        close(fd);
    return file;
}
