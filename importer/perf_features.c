/* The feature sections of perf.data files: behind the records, in the order of their bits. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "perf_data.h"

enum { MOST_SECTION_BYTES = 256 << 20 };

/* A part of a section, from the front on. */
struct part {
    const uint8_t *at, *end;
};

static const uint8_t *take(struct part *part, uint64_t bytes)
{
    const uint8_t *at = part->at;
    if (bytes > (uint64_t)(part->end - part->at))
        return NULL;
    part->at += bytes;
    return at;
}

static bool take_u32(struct part *part, uint32_t *ret)
{
    const uint8_t *at = take(part, sizeof(*ret));
    if (at)
        memcpy(ret, at, sizeof(*ret));
    return at;
}

static bool take_u64(struct part *part, uint64_t *ret)
{
    const uint8_t *at = take(part, sizeof(*ret));
    if (at)
        memcpy(ret, at, sizeof(*ret));
    return at;
}

static const char *take_text(struct part *part)
{
    const uint8_t *end = memchr(part->at, '\0', (size_t)(part->end - part->at));
    return end ? (const char *)take(part, (uint64_t)(end + 1 - part->at)) : NULL;
}

/* --- formats of tracepoints (tools/perf/util/trace-event-read.c) --- */

/* A text of `bytes` bytes, which is skipped. */
static bool skip_sized(struct part *part)
{
    uint64_t bytes;
    return take_u64(part, &bytes) && take(part, bytes);
}

/* Control characters are damage, of which libtraceevent 1.7 ends the process: it takes the text up
 * to a NUL for a type, and asks for the name that is not there. So are bytes above ASCII outside of
 * quotes, which it takes for the end of the text. Inside, a module's format may have UTF-8. */
static bool is_text(const uint8_t *text, uint64_t bytes)
{
    uint8_t quote = 0;       /* the one that is open */
    bool is_escaped = false; /* by the byte before, inside quotes */
    for (uint64_t i = 0; i < bytes; i++) {
        if ((text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f ||
            (text[i] > 0x7f && !quote))
            return false;
        if (quote && text[i] == quote && !is_escaped)
            quote = 0;
        else if (!quote && (text[i] == '"' || text[i] == '\''))
            quote = text[i];
        is_escaped = quote && text[i] == '\\' && !is_escaped;
    }
    return true;
}

static bool read_formats(struct perf_file *perf, struct part *part, const char *system)
{
    uint32_t count;
    uint64_t bytes;
    const uint8_t *text;
    if (!take_u32(part, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!take_u64(part, &bytes) || !(text = take(part, bytes)) || !is_text(text, bytes))
            return false;
        tep_parse_event(perf->tep, (const char *)text, bytes, system);
    }
    return true;
}

static bool read_systems(struct perf_file *perf, struct part *part)
{
    uint32_t count;
    if (!take_u32(part, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *system = take_text(part);
        if (!system || !read_formats(perf, part, system))
            return false;
    }
    return true;
}

static bool read_tracing_data(struct perf_file *perf, struct part *part)
{
    static const char magic[] = "\x17\x08\x44tracing";
    const uint8_t *start = take(part, sizeof(magic) - 1);
    const uint8_t *shape;
    uint32_t page_bytes, ftrace_count;
    if (!start || memcmp(start, magic, sizeof(magic) - 1) || !take_text(part) ||
        !(shape = take(part, 2)) || !take_u32(part, &page_bytes))
        return false;
    tep_set_file_bigendian(perf->tep, shape[0] ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_long_size(perf->tep, shape[1]);
    tep_set_page_size(perf->tep, (int)page_bytes);
    sink_header(perf->sink)->page_bytes = page_bytes;
    if (!take_text(part) || !skip_sized(part) || !take_text(part) || !skip_sized(part) ||
        !take_u32(part, &ftrace_count))
        return false;
    for (uint32_t i = 0; i < ftrace_count; i++)
        if (!skip_sized(part))
            return false;
    return read_systems(perf, part);
}

/* --- the machine --- */

/* A length and a text, padded with NUL. */
static const char *take_string(struct part *part)
{
    uint32_t bytes;
    const uint8_t *text;
    if (!take_u32(part, &bytes) || !(text = take(part, bytes)) || !memchr(text, '\0', bytes))
        return NULL;
    return (const char *)text;
}

static bool read_architecture(struct perf_file *perf, struct part *part)
{
    const char *name = take_string(part);
    if (name && strcmp(name, "aarch64") == 0)
        sink_header(perf->sink)->arch = ARGUS_ARCH_AARCH64;
    else if (name && strcmp(name, "x86_64") == 0)
        sink_header(perf->sink)->arch = ARGUS_ARCH_X86_64;
    else if (name)
        sink_note(perf->sink,
                  "imported: the file is of a machine (%s) whose system calls Argus "
                  "does not know",
                  name);
    return name;
}

static bool read_release(struct perf_file *perf, struct part *part)
{
    const char *name = take_string(part);
    if (name)
        snprintf(sink_header(perf->sink)->host, sizeof(sink_header(perf->sink)->host), "Linux %s",
                 name);
    return name;
}

/* version, clock number, then the two clocks at one moment: wall and trace, in ns. */
static bool read_clocks(struct perf_file *perf, struct part *part)
{
    uint32_t version, clock;
    uint64_t wall_ns, clock_ns;
    if (!take_u32(part, &version) || !take_u32(part, &clock) || !take_u64(part, &wall_ns) ||
        !take_u64(part, &clock_ns))
        return false;
    sink_header(perf->sink)->anchor_wall_ns = wall_ns;
    sink_header(perf->sink)->anchor_ticks = clock_ns;
    return true;
}

/* --- the table of sections --- */

/* Bits of the header's features (tools/perf/util/header.h). To add one: a row. */
static const struct {
    unsigned bit;
    bool (*read)(struct perf_file *perf, struct part *part);
    const char *name;
} sections[] = {
    {1, read_tracing_data, "the section of the tracepoints' formats is damaged"},
    {4, read_release, "the section of the kernel's release is damaged"},
    {6, read_architecture, "the section of the architecture is damaged"},
    {29, read_clocks, "the section of the clocks is damaged"},
};

struct argus_error *perf_read_section(struct perf_file *perf, unsigned bit,
                                      struct perf_section section)
{
    struct argus_error *error = NULL;
    for (size_t i = 0; i < sizeof(sections) / sizeof(*sections) && !error; i++) {
        if (sections[i].bit != bit)
            continue;
        if (section.bytes > MOST_SECTION_BYTES || section.bytes > perf->file_bytes)
            return perf_error(section.offset, sections[i].name);
        uint8_t *bytes = malloc(section.bytes + 1);
        struct part part = {bytes, bytes + section.bytes};
        error =
            bytes ? perf_read(perf, section.offset, bytes, section.bytes) : argus_error_memory();
        if (!error && !sections[i].read(perf, &part))
            error = perf_error(section.offset, sections[i].name);
        free(bytes);
    }
    return error;
}

struct argus_error *perf_read_features(struct perf_file *perf)
{
    uint64_t at = perf->data.offset + perf->data.bytes;
    struct argus_error *error = NULL;
    if (perf->is_pipe)
        return NULL; /* they are records */
    if (!perf->data.bytes) {
        sink_note(perf->sink, "perf was killed: names of kernel events and files are missing");
        return NULL;
    }
    for (unsigned bit = 0; bit < 256 && !error; bit++) {
        struct perf_section section;
        if (!(perf->features[bit / 64] >> bit % 64 & 1))
            continue;
        error = perf_read(perf, at, &section, sizeof(section));
        if (!error)
            error = perf_read_section(perf, bit, section);
        at += sizeof(section);
    }
    return error;
}
