/* The lines that are not records. */
#include <stdlib.h>
#include <string.h>

#include "mktrace.h"

/* The value after the word `key`, e.g. "pid" in "thread 12 pid 10 name editor"; NULL if it is not
 * there. */
static const char *find_value(const struct line *line, const char *key)
{
    for (size_t i = 1; i + 1 < line->count; i++)
        if (strcmp(line->words[i], key) == 0)
            return line->words[i + 1];
    return NULL;
}

static uint64_t find_number(const struct line *line, const char *key, uint64_t otherwise)
{
    const char *value = find_value(line, key);
    return value ? line_number(line, value) : otherwise;
}

static bool has_word(const struct line *line, const char *word)
{
    for (size_t i = 1; i < line->count; i++)
        if (strcmp(line->words[i], word) == 0)
            return true;
    return false;
}

/* thread TID [pid PID] [ppid PID] [kernel] name NAME */
static void add_thread(struct builder *builder, const struct line *line)
{
    const char *name = find_value(line, "name");
    uint64_t tid = line_number(line, line->words[1]);
    struct argus_thread_entry entry = {
        .tid = tid,
        .pid = find_number(line, "pid", tid),
        .parent_pid = find_number(line, "ppid", 0),
        .seen_ticks = builder->now_ticks,
        .name = name ? name : "",
        .kernel = has_word(line, "kernel"),
    };
    builder_check(argus_writer_threads(builder_writer(builder, line), &entry, 1), line);
}

static void parse_build_id(const struct line *line, struct argus_image_entry *entry)
{
    const char *hex = find_value(line, "build_id");
    for (; hex && hex[0] && hex[1] && entry->build_id_bytes < sizeof(entry->build_id); hex += 2) {
        char byte[3] = {hex[0], hex[1], '\0'};
        entry->build_id[entry->build_id_bytes++] = (uint8_t)strtoul(byte, NULL, 16);
    }
}

/* image pid PID start ADDRESS end ADDRESS [offset N] [time T] [inode N] [dev_major N] [dev_minor N]
 * [build_id HEX] path PATH */
static void add_image(struct builder *builder, const struct line *line)
{
    const char *path = find_value(line, "path"), *time = find_value(line, "time");
    struct argus_image_entry entry = {
        .pid = find_number(line, "pid", 0),
        .start = find_number(line, "start", 0),
        .end = find_number(line, "end", 0),
        .file_offset = find_number(line, "offset", 0),
        .mapped_ticks = time ? line_time(line, time) : 0,
        .inode = find_number(line, "inode", 0),
        .dev_major = (uint32_t)find_number(line, "dev_major", 0),
        .dev_minor = (uint32_t)find_number(line, "dev_minor", 0),
        .path = path ? path : "",
    };
    if (!path || entry.end < entry.start)
        line_fail(line, "an image needs start, end and path");
    parse_build_id(line, &entry);
    builder_check(argus_writer_images(builder_writer(builder, line), &entry, 1), line);
}

/* build_id HEX is the value of the key itself: build_ids inode N build_id HEX path PATH */
static void add_build_id(struct builder *builder, const struct line *line)
{
    const char *path = find_value(line, "path");
    struct argus_image_entry entry = {
        .inode = find_number(line, "inode", 0),
        .dev_major = (uint32_t)find_number(line, "dev_major", 0),
        .dev_minor = (uint32_t)find_number(line, "dev_minor", 0),
        .path = path ? path : "",
    };
    parse_build_id(line, &entry);
    builder_check(argus_writer_build_ids(builder_writer(builder, line), &entry, 1), line);
}

/* stack ID ADDRESS … */
static void add_stack(struct builder *builder, const struct line *line)
{
    uint64_t frames[MKTRACE_MOST_WORDS];
    size_t count = 0;
    for (size_t i = 2; i < line->count; i++)
        frames[count++] = line_number(line, line->words[i]);
    if (count == 0)
        line_fail(line, "a stack needs an id and at least one address");
    uint64_t id = line_number(line, line->words[1]);
    struct argus_writer *writer = builder_writer(builder, line);
    builder_check(argus_writer_stack(writer, id, frames, count), line);
}

/* The index of the first word after the word `key`. */
static size_t find_rest(const struct line *line, const char *key)
{
    size_t at = 1;
    while (at < line->count && strcmp(line->words[at], key) != 0)
        at++;
    return at + 1;
}

/* snapshot ID pid PID pc ADDRESS sp ADDRESS [time T] [end N] words WORD … */
static void add_snapshot(struct builder *builder, const struct line *line)
{
    bool arm = builder->header.arch == ARGUS_ARCH_AARCH64;
    uint64_t stack[MKTRACE_MOST_WORDS];
    size_t count = 0;
    const char *time = find_value(line, "time");
    struct argus_snapshot snapshot = {
        .id = line_number(line, line->words[1]),
        .pid = find_number(line, "pid", 0),
        .tid = find_number(line, "pid", 0),
        .ticks = time ? line_time(line, time) : 0,
        .end = (enum argus_snapshot_end)find_number(line, "end", 0),
        .register_count = arm ? 33 : 17,
    };
    snapshot.registers[snapshot.register_count - 1] = find_number(line, "pc", 0);
    snapshot.registers[arm ? 31 : 7] = find_number(line, "sp", 0);
    for (size_t i = find_rest(line, "words"); i < line->count; i++)
        stack[count++] = line_number(line, line->words[i]);
    snapshot.stack = (const uint8_t *)stack;
    snapshot.stack_bytes = (uint32_t)(count * sizeof(stack[0]));
    builder_check(argus_writer_snapshot(builder_writer(builder, line), &snapshot), line);
}

/* ksym ADDRESS NAME [MODULE] */
static void add_symbol(struct builder *builder, const struct line *line)
{
    if (line->count < 3)
        line_fail(line, "ksym needs an address and a name");
    struct argus_kernel_symbol entry = {
        .address = line_number(line, line->words[1]),
        .name = line->words[2],
        .module = line->count > 3 ? line->words[3] : "",
    };
    builder_check(argus_writer_kernel_symbols(builder_writer(builder, line), &entry, 1), line);
}

/* "begin" → ARGUS_PROBE_BEGIN */
static uint32_t probe_shape(const struct line *line, const char *word)
{
    static const char *const names[] = {"queue", "cancel", "begin",   "end", "turn",
                                        "ui",    "read",   "handler", "note"};
    for (uint32_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(names[i], word) == 0)
            return i + 1;
    line_fail(line, "no such shape of a probe");
}

/* probe NUMBER SPACE LABEL [shape SHAPE] [symbol NAME] [library PATH] */
static void add_probe(struct builder *builder, const struct line *line)
{
    if (line->count < 4)
        line_fail(line, "probe needs a number, a space and a label");
    const char *shape = find_value(line, "shape"), *symbol = find_value(line, "symbol"),
               *library = find_value(line, "library");
    struct argus_probe_entry entry = {
        .shape = shape ? probe_shape(line, shape) : 0,
        .number = (uint32_t)line_number(line, line->words[1]),
        .space = (uint32_t)line_number(line, line->words[2]),
        .library = library ? library : "/lib/libtoolkit.so",
        .symbol = symbol ? symbol : line->words[3],
        .label = line->words[3],
    };
    builder_check(argus_writer_probes(builder_writer(builder, line), &entry, 1), line);
}

/* flag NUMBER PID ADDRESS LABEL [bytes N] [value N] [semantics value|flip|queue] */
static void add_flag(struct builder *builder, const struct line *line)
{
    if (line->count < 5)
        line_fail(line, "flag needs a number, a process id, an address and a label");
    const char *value = find_value(line, "value");
    const char *bytes = find_value(line, "bytes"), *semantics = find_value(line, "semantics");
    struct argus_flag_entry entry = {
        .number = (uint32_t)line_number(line, line->words[1]),
        .pid = line_number(line, line->words[2]),
        .address = line_number(line, line->words[3]),
        .bytes = bytes ? (uint32_t)line_number(line, bytes) : 4,
        .value = value ? line_number(line, value) : 0,
        .semantics = !semantics || strcmp(semantics, "value") == 0 ? ARGUS_FLAG_VALUE
                     : strcmp(semantics, "flip") == 0              ? ARGUS_FLAG_FLIP
                     : strcmp(semantics, "queue") == 0             ? ARGUS_FLAG_QUEUE
                                                                   : ARGUS_FLAG_SEMANTICS,
        .label = line->words[4],
    };
    if (entry.semantics == ARGUS_FLAG_SEMANTICS)
        line_fail(line, "no such semantics of a flag");
    builder_check(argus_writer_flags(builder_writer(builder, line), &entry, 1), line);
}

/* name path PATH [inode N] place OFFSET …, or name pid PID place ADDRESS [since T] …; … is [function F] [source FILE] [line N]
 * [distance N] [lack N] [called F] [level N]; with a level the function was inlined there */
static void add_name(struct builder *builder, const struct line *line)
{
    const char *path = find_value(line, "path"), *since = find_value(line, "since");
    const char *function = find_value(line, "function"), *source = find_value(line, "source"),
               *called = find_value(line, "called");
    struct argus_image_entry file = {.inode = find_number(line, "inode", 0), .path = path};
    struct argus_name_entry entry = {
        .file = path ? &file : NULL,
        .pid = find_number(line, "pid", 0),
        .place = find_number(line, "place", 0),
        .since_ticks = since ? line_time(line, since) : 0,
        .distance = find_number(line, "distance", 0),
        .has_start = has_word(line, "distance"),
        .function = function ? function : "",
        .source = source ? source : "",
        .called = called ? called : "",
        .line = (uint32_t)find_number(line, "line", 0),
        .level = (uint32_t)find_number(line, "level", 0),
        .lack = (uint8_t)find_number(line, "lack", 0),
    };
    struct argus_writer *writer = builder_writer(builder, line);
    builder_check(entry.level ? argus_writer_inlined(writer, &entry, 1)
                              : argus_writer_names(writer, &entry, 1),
                  line);
}

/* note "TEXT" */
static void add_note(struct builder *builder, const struct line *line)
{
    builder_check(argus_writer_note(builder_writer(builder, line), line->words[1]), line);
}

/* lost cpuN COUNT: the current chunk of this CPU ends here, and COUNT records are lost before the
 * next one */
static void add_lost(struct builder *builder, const struct line *line)
{
    uint64_t cpu = line_suffix(line, line->words[1], "cpu");
    if (cpu >= builder->header.cpu_count || line->count < 3)
        line_fail(line, "lost needs a cpu below the number of cpus, and a count");
    builder_flush(builder, line);
    builder->lost[cpu] += line_number(line, line->words[2]);
}

/* counter NAME VALUE: goes into the end chunk */
static void add_counter(struct builder *builder, const struct line *line)
{
    if (line->count < 3)
        line_fail(line, "counter needs a name and a value");
    struct argus_counter counter = {strdup(line->words[1]), line_number(line, line->words[2])};
    if (!counter.name || !vec_push(&builder->counters, counter))
        line_fail(line, "out of memory");
}

static void begin_chunk(struct builder *builder, const struct line *line)
{
    builder_flush(builder, line);
}

static void leave_out_end(struct builder *builder, const struct line *line)
{
    (void)line;
    builder->without_end = true;
}

static void require_new(const struct builder *builder, const struct line *line)
{
    if (builder->writer)
        line_fail(line, "'%s' must come before everything that goes into a chunk", line->words[0]);
}

/* cpus N */
static void set_cpus(struct builder *builder, const struct line *line)
{
    require_new(builder, line);
    uint64_t cpus = line_number(line, line->words[1]);
    if (cpus == 0 || cpus > MKTRACE_MOST_CPUS)
        line_fail(line, "between 1 and %d cpus", MKTRACE_MOST_CPUS);
    builder->header.cpu_count = (uint32_t)cpus;
}

/* ring BYTES */
static void set_ring(struct builder *builder, const struct line *line)
{
    require_new(builder, line);
    builder->header.ring_bytes = line_number(line, line->words[1]);
}

/* os linux | darwin */
static void set_os(struct builder *builder, const struct line *line)
{
    require_new(builder, line);
    bool darwin = strcmp(line->words[1], "darwin") == 0;
    if (!darwin && strcmp(line->words[1], "linux") != 0)
        line_fail(line, "os is linux or darwin");
    builder->header.os = darwin ? ARGUS_OS_DARWIN : ARGUS_OS_LINUX;
}

/* arch x86_64 | aarch64 */
static void set_arch(struct builder *builder, const struct line *line)
{
    require_new(builder, line);
    bool arm = strcmp(line->words[1], "aarch64") == 0;
    if (!arm && strcmp(line->words[1], "x86_64") != 0)
        line_fail(line, "arch is x86_64 or aarch64");
    builder->header.arch = arm ? ARGUS_ARCH_AARCH64 : ARGUS_ARCH_X86_64;
}

/* wall NS: nanoseconds after 1970 at time 0 of the trace */
static void set_wall(struct builder *builder, const struct line *line)
{
    require_new(builder, line);
    builder->header.anchor_wall_ns = line_number(line, line->words[1]);
}

/* codec zlib | zstd */
static void choose_codec(struct builder *builder, const struct line *line)
{
    enum argus_codec codec;
    if (!argus_codec_find(line->words[1], &codec))
        line_fail(line, "codec is zlib or zstd");
    builder_flush(builder, line);
    builder_check(argus_writer_choose_codec(builder_writer(builder, line), codec), line);
}

/* To add a kind of line: one function and one row; README.md says what each looks like. */
static const struct directive {
    const char *name;
    size_t words; /* minimum, including the name */
    void (*run)(struct builder *builder, const struct line *line);
} directives[] = {
    {"cpus", 2, set_cpus},          {"ring", 2, set_ring},     {"os", 2, set_os},
    {"arch", 2, set_arch},          {"wall", 2, set_wall},     {"thread", 2, add_thread},
    {"image", 2, add_image},        {"stack", 2, add_stack},   {"snapshot", 2, add_snapshot},
    {"ksym", 2, add_symbol},        {"probe", 2, add_probe},   {"flag", 2, add_flag},
    {"build_ids", 2, add_build_id}, {"note", 2, add_note},     {"lost", 2, add_lost},
    {"counter", 2, add_counter},    {"chunk", 1, begin_chunk}, {"without_end", 1, leave_out_end},
    {"codec", 2, choose_codec},     {"name", 5, add_name},
};

bool builder_directive(struct builder *builder, const struct line *line)
{
    for (size_t i = 0; i < sizeof(directives) / sizeof(*directives); i++) {
        if (strcmp(directives[i].name, line->words[0]) != 0)
            continue;
        if (line->count < directives[i].words)
            line_fail(line, "'%s' needs more words", line->words[0]);
        directives[i].run(builder, line);
        return true;
    }
    return false;
}
