#include "base/foreign_format.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --- formats without a magic number --- */

/* Accepts letters, punctuation, line ends, and the bytes of UTF-8. */
static bool is_text(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!bytes[i] || bytes[i] == 0x7f || (bytes[i] < ' ' && !strchr("\t\n\f\r\033", bytes[i])))
            return false;
    return length > 0;
}

static uint8_t first_sign(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!isspace(bytes[i]))
            return bytes[i];
    return 0;
}

static bool is_json(const uint8_t *bytes, size_t length)
{
    uint8_t first = first_sign(bytes, length);
    return is_text(bytes, length) && (first == '{' || first == '[');
}

static bool has_text(const uint8_t *bytes, size_t length, const char *text)
{
    size_t text_length = strlen(text);
    for (size_t i = 0; i + text_length <= length; i++)
        if (memcmp(bytes + i, text, text_length) == 0)
            return true;
    return false;
}

/* Chrome's format, which many programs write: an object with these members, or a list of events. */
static bool is_trace_events(const uint8_t *bytes, size_t length)
{
    return is_json(bytes, length) &&
           (has_text(bytes, length, "\"traceEvents\"") ||
            (has_text(bytes, length, "\"ph\"") && has_text(bytes, length, "\"ts\"")));
}

static bool is_markup(const uint8_t *bytes, size_t length)
{
    return is_text(bytes, length) && first_sign(bytes, length) == '<';
}

/* A sequence of field 1 of protobuf, a packet each: 0x0a, its length, its bytes
 * (protos/perfetto/trace/trace.proto). */
static bool is_perfetto(const uint8_t *bytes, size_t length)
{
    size_t packets = 0, at = 0;
    while (at < length) {
        uint64_t packet_bytes = 0;
        unsigned shift = 0;
        if (bytes[at++] != 0x0a)
            return false;
        for (bool more = true; more && at < length && shift < 35; shift += 7) {
            packet_bytes |= (uint64_t)(bytes[at] & 0x7f) << shift;
            more = bytes[at++] & 0x80;
        }
        if (packet_bytes == 0)
            return false;
        at += packet_bytes < length ? (size_t)packet_bytes : length;
        packets++;
    }
    return packets > 1 && !is_text(bytes, length);
}

/* e_type, in the byte order that e_ident gives. */
static bool is_core(const uint8_t *bytes, size_t length)
{
    return length >= 18 && memcmp(bytes, "\177ELF", 4) == 0 && bytes[bytes[5] == 2 ? 17 : 16] == 4;
}

/* `magic`, and then a version of 16 bits, little-endian, below 256: its zero tells it from text. */
static bool has_version(const uint8_t *bytes, size_t length, const char *magic)
{
    size_t at = strlen(magic);
    return length >= at + 2 && memcmp(bytes, magic, at) == 0 && bytes[at] && !bytes[at + 1];
}

/* system/extras/simpleperf/cmd_report_sample.proto */
static bool is_simpleperf(const uint8_t *bytes, size_t length)
{
    return has_version(bytes, length, "SIMPLEPERF");
}

/* art/runtime/trace.cc, of a streamed trace; others begin with *version */
static bool is_method_trace(const uint8_t *bytes, size_t length)
{
    return has_version(bytes, length, "SLOW");
}

/* --- the table --- */

#define IMPORTED     "argus-import reads it, if it is installed and was built for this format"
#define NAME_A_TRACE "name a file that argus record, argus snapshot or kdebug (macOS) wrote"
#define UNPACK       "decompress it first"

/* To add a format: a row, above every row that also matches its files. */
static const struct format {
    const char *magic; /* at offset 0 */
    size_t length;     /* of `magic`; 0: `matches` decides */
    bool (*matches)(const uint8_t *bytes, size_t length);
    /* `shown`: the magic in readable form; NULL: `magic` is readable */
    const char *name, *shown, *advice;
} formats[] = {
#define MAGIC(bytes)    bytes, sizeof(bytes) - 1, NULL
#define LOOKS(function) NULL, 0, function
    {MAGIC("ARGUSTRC"), "an Argus trace", "ARGUSTRC", "argus info reads it"},
    {MAGIC("ARGUSSTP"), "a step file of argus step", "ARGUSSTP", "argus diverge reads it"},
    {MAGIC("ARGUSGRF"), "a graph that Argus keeps next to a trace", "ARGUSGRF",
     "name the trace: the same name without .graph"},
    {MAGIC("PERFILE2"), "a perf.data file", "PERFILE2", IMPORTED},
    {MAGIC("2ELIFREP"), "a perf.data file of the other byte order", "2ELIFREP", IMPORTED},
    {MAGIC("PERFFILE"), "an old perf.data file", "PERFFILE", "perf report reads it"},
    {MAGIC("\x17\x08\x44tracing"), "a trace.dat file of trace-cmd", "17 08 44 \"tracing\"",
     IMPORTED},
    {MAGIC("\x57\x1d\xd1\x75"), "CTF metadata", "0x75D11D57", IMPORTED},
    {MAGIC("\x75\xd1\x1d\x57"), "CTF metadata", "0x75D11D57", IMPORTED},
    {MAGIC("/* CTF"), "CTF metadata", "/* CTF", IMPORTED},
    {MAGIC("\xc1\x1f\xfc\xc1"), "a CTF stream, as LTTng writes", "0xC1FC1FC1", IMPORTED},
    {MAGIC("\xc1\xfc\x1f\xc1"), "a CTF stream, as LTTng writes", "0xC1FC1FC1", IMPORTED},
    {MAGIC("\xd4\xc3\xb2\xa1"), "a pcap file", "0xA1B2C3D4", "wireshark and tcpdump read it"},
    {MAGIC("\xa1\xb2\xc3\xd4"), "a pcap file", "0xA1B2C3D4", "wireshark and tcpdump read it"},
    {MAGIC("\x4d\x3c\xb2\xa1"), "a pcap file", "0xA1B23C4D", "wireshark and tcpdump read it"},
    {MAGIC("\xa1\xb2\x3c\x4d"), "a pcap file", "0xA1B23C4D", "wireshark and tcpdump read it"},
    {MAGIC("\x0a\x0d\x0d\x0a"), "a pcapng file", "0x0A0D0D0A", "wireshark and tcpdump read it"},
    {MAGIC("\x1f\x8b"), "a gzip file", "1f 8b", UNPACK " (gunzip)"},
    {MAGIC("\xfd"
           "7zXZ"),
     "an xz file", "fd \"7zXZ\"", UNPACK " (unxz)"},
    {MAGIC("\x28\xb5\x2f\xfd"), "a zstd file", "0xFD2FB528", UNPACK " (unzstd)"},
    {MAGIC("BZh"), "a bzip2 file", "BZh", UNPACK " (bunzip2)"},
    {MAGIC("PK\x03\x04"), "a zip file", "PK", UNPACK " (unzip)"},
    {MAGIC("SQLite format 3"), "an SQLite database", "SQLite format 3", NAME_A_TRACE},
    {LOOKS(is_core), "an ELF core file", "7f \"ELF\", e_type 4", "lldb -c and gdb read it"},
    {MAGIC("\x7f"
           "ELF"),
     "an ELF program or library", "7f \"ELF\"", NAME_A_TRACE},
    {LOOKS(is_perfetto), "a Perfetto trace", "protobuf packets", IMPORTED},
    {MAGIC("\x5e\x97\xca\xfd"), "a capture of sysprof", "0xFDCA975E", "sysprof shows it"},
    {MAGIC("\x10\x00\x04\x46\x78\x54\x16\x00"), "a Fuchsia trace", "10 00 04 \"FxT\"",
     "ui.perfetto.dev shows it"},
    {LOOKS(is_simpleperf), "a report of Android's simpleperf", "SIMPLEPERF",
     "ui.perfetto.dev shows it"},
    {MAGIC("JAVA PROFILE 1."), "a heap dump of Java", "JAVA PROFILE", NAME_A_TRACE},
    {LOOKS(is_method_trace), "a method trace of Android's runtime", "SLOW",
     "ui.perfetto.dev shows it"},
    {MAGIC("*version\n"), "a method trace of Android's runtime", "*version",
     "ui.perfetto.dev shows it"},
    {LOOKS(is_trace_events), "a trace in Chrome's format (JSON)", NULL,
     "Argus needs the kernel's events, which only a string systemTraceEvents in it would have; "
     "ui.perfetto.dev shows it"},
    {LOOKS(is_json), "JSON text", NULL, NAME_A_TRACE},
    {LOOKS(is_markup), "HTML or XML text", NULL, NAME_A_TRACE},
    {LOOKS(is_text), "plain text", NULL, NAME_A_TRACE},
#undef MAGIC
#undef LOOKS
};

static const struct format *find(const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        const struct format *format = &formats[i];
        if (format->matches
                ? format->matches(bytes, length)
                : length >= format->length && memcmp(bytes, format->magic, format->length) == 0)
            return format;
    }
    return NULL;
}

static void write_hex(const uint8_t *bytes, size_t length, char *ret, size_t room)
{
    size_t at = 0;
    ret[0] = '\0';
    for (size_t i = 0; i < length && i < 8 && at + 4 < room; i++)
        at += (size_t)snprintf(ret + at, room - at, "%s%02x", i ? " " : "", bytes[i]);
}

/* The beginning of the first line, without control characters. */
static void write_text(const uint8_t *bytes, size_t length, char *ret, size_t room)
{
    size_t at = 0, first = 0;
    while (first < length && isspace(bytes[first]))
        first++;
    ret[at++] = '"';
    for (size_t i = first; i < length && isprint(bytes[i]) && at + 2 < room; i++)
        ret[at++] = (char)bytes[i];
    ret[at++] = '"';
    ret[at] = '\0';
}

struct argus_error *foreign_format_error(const char *path, const char *wanted, const char *magic,
                                         const void *bytes, size_t length)
{
    char hex[32], text[24];
    const struct format *format = find(bytes, length);
    write_text(bytes, length, text, sizeof(text));
    if (format)
        return argus_error_create(ARGUS_ERROR_FORMAT, "%s is not %s: it is %s (offset 0: %s); %s",
                                  path, wanted, format->name, format->shown ? format->shown : text,
                                  format->advice);
    write_hex(bytes, length, hex, sizeof(hex));
    return argus_error_create(
        ARGUS_ERROR_FORMAT,
        "%s is not %s: it begins with the bytes %s (offset 0), not with %s; " NAME_A_TRACE, path,
        wanted, hex, magic);
}
