#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "argus/error.h"
#include "base/foreign_format.h"
#include "base/idmap.h"
#include "base/plain_names.h"
#include "base/shown.h"
#include "base/strtab.h"
#include "base/utf8.h"
#include "base/vec.h"

static void ids_are_found_again(void **state)
{
    (void)state;
    struct idmap map = {0};
    assert_int_equal(idmap_get(&map, 0), IDMAP_NONE);
    for (uint32_t i = 0; i < 100000; i++)
        assert_true(idmap_put(&map, (uint64_t)i << 32, i));
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(idmap_get(&map, (uint64_t)i << 32), i);
    assert_int_equal(idmap_get(&map, 1), IDMAP_NONE);
    assert_true(idmap_put(&map, 0, 7));
    assert_int_equal(idmap_get(&map, 0), 7);
    assert_int_equal(map.count, 100000);
    idmap_clear(&map);
    assert_int_equal(idmap_get(&map, 0), IDMAP_NONE);
    assert_int_equal(map.count, 0);
    idmap_deinit(&map);
}

static bool append(void *context, const char *text, size_t bytes)
{
    strncat(context, text, bytes);
    return true;
}

/* The text as it is shown, passed on in pieces of `piece` bytes. */
static void assert_shown(struct shown shown, const char *text, size_t piece, const char *wanted)
{
    char got[512] = "";
    for (size_t at = 0; at < strlen(text); at += piece) {
        size_t left = strlen(text) - at;
        assert_true(shown_put(&shown, text + at, left < piece ? left : piece, append, got));
    }
    assert_true(shown_end(&shown, append, got));
    assert_string_equal(got, wanted);
}

static void what_terminals_obey_is_escaped(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"plain, Grüße, 日本, \xf0\x9f\x98\x80", "plain, Grüße, 日本, \xf0\x9f\x98\x80"},
        {"\033]0;title\007", "\\u001b]0;title\\u0007"},
        {"a\rb\bc\177", "a\\u000db\\u0008c\\u007f"},
        {"\xc2\x9b"
         "2J",
         "\\u009b2J"},
        {"\xe2\x80\xae"
         "cod.exe",
         "\\u202ecod.exe"},
        {"\xe2\x81\xa6\xef\xbb\xbf", "\\u2066\\ufeff"},
        {"\xff\xc0\x80 \xe2\x80", "\\xff\\xc0\\x80 \\xe2\\x80"},
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
        {"name\vline\ftab", "name\\u000aline\\u0009tab"},
        {"\033[1m", "\\u001b[1m"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (size_t piece = 1; piece < 6; piece++)
            assert_shown((struct shown){0}, rows[i].text, piece, rows[i].shown);
    for (size_t piece = 1; piece < 6; piece++) {
        assert_shown((struct shown){.lines = true}, "a\n\tb", piece, "a\n\tb");
        assert_shown((struct shown){0}, "a\n\tb", piece, "a\\u000a\\u0009b");
        assert_shown((struct shown){.colours = true}, "\033[1mA\033[0m\033[8m\033[", piece,
                     "\033[1mA\033[0m\\u001b[8m\\u001b[");
    }
    char name[] = "a\nb\tc\xff";
    utf8_repair_name(name, strlen(name));
    assert_string_equal(name, "a\vb\fc?");
}

/* A note is cut off between two characters; one that is not UTF-8, anywhere. */
static void long_notes_are_cut_off(void **state)
{
    (void)state;
    static const struct {
        const char *character;
        size_t shown;
    } rows[] = {{"a", SHOWN_NOTE_BYTES},
                {"日", SHOWN_NOTE_BYTES - SHOWN_NOTE_BYTES % 3},
                {"\x80", SHOWN_NOTE_BYTES}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char note[SHOWN_NOTE_BYTES + 100];
        size_t bytes = strlen(rows[i].character), length = 0;
        for (; length + bytes <= sizeof(note); length += bytes)
            memcpy(note + length, rows[i].character, bytes);
        assert_int_equal(shown_note_bytes(note, length), rows[i].shown);
        assert_int_equal(shown_note_bytes(note, bytes), bytes);
    }
}

static void broken_utf8_is_repaired(void **state)
{
    (void)state;
    static const struct {
        const char *text, *repaired;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"cut \xe2\x82", "cut ??"},
        {"\x80z", "?z"},
        {"\xc0\xaf", "??"},           /* overlong '/' */
        {"\xed\xa0\x80", "???"},      /* a surrogate */
        {"\xf4\x90\x80\x80", "????"}, /* after the last code point */
        {"\xe2\x28\xa1", "?(?"},      /* resynchronises at the ASCII byte */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char text[64];
        snprintf(text, sizeof(text), "%s", cases[i].text);
        utf8_repair(text, strlen(text));
        assert_string_equal(text, cases[i].repaired);
    }
}

static void strings_are_kept_once(void **state)
{
    (void)state;
    struct strtab *table = strtab_create();
    assert_non_null(table);
    uint32_t a, b, c;
    assert_null(strtab_intern(table, "editor", 6, &a));
    assert_null(strtab_intern(table, "editor\0x", 8, &b));
    assert_null(strtab_intern(table, "edit", 4, &c));
    assert_int_equal(a, b);
    assert_int_not_equal(a, c);
    assert_string_equal(strtab_get(table, c), "edit");
    assert_string_equal(strtab_get(table, 0), "");
    assert_string_equal(strtab_get(table, 999), "");
    assert_int_equal(strtab_count(table), 3);
    strtab_destroy(table);
}

static void vectors_grow(void **state)
{
    (void)state;
    VEC(uint16_t) vector = {0};
    for (unsigned i = 0; i < 1000; i++)
        assert_true(vec_push(&vector, (uint16_t)i));
    assert_int_equal(vector.data[999], 999);
    assert_false(vec_reserve(&vector, SIZE_MAX));
    assert_false(vec_reserve(&vector, SIZE_MAX / 2));
    assert_int_equal(vector.length, 1000);
    vec_deinit(&vector);
}

static void plain_names_lack_versions_and_clones(void **state)
{
    static const struct {
        const char *path, *plain;
    } files[] = {
        {"/usr/lib/libLLVM-15.so.1", "libLLVM.so"},
        {"libfoo.so.1.2.3", "libfoo.so"},
        {"/opt/a1/python3.11", "python"},
        {"clang-15, before its exec", "clang, before its exec"},
        {"a-b_c.d", "a-b_c.d"},
        {"/usr/lib/42", ""},
    };
    static const struct {
        const char *name, *plain;
        bool is_part, is_cold;
    } functions[] = {
        {"load.part.0", "load", true, false},
        {"load.constprop.0.cold", "load", false, true},
        {"load(int) [clone .part.0] [clone .cold]", "load(int)", true, true},
        {"core::drop::h0123456789abcdef", "core::drop", false, false},
        {"core::drop::h0123456789abcdef.llvm.7", "core::drop", false, false},
        {".part.x", ".part.x", false, false},
        {"app.load", "app.load", false, false},
        {"load.cold", "load", false, true},
        {"load.part.0.isra.0.localalias", "load", true, false},
        {"server.coldStart", "server.coldStart", false, false},
        {"app.part.func1", "app.part.func1", false, false},
        {"app.(*T).clone", "app.(*T).clone", false, false},
        {"app.clone.func2.cold", "app.clone.func2", false, true},
        {"", "", false, false},
    };
    char text[64], small[5];
    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
        assert_string_equal(plain_file_name(files[i].path, text, sizeof(text)), files[i].plain);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
        assert_string_equal(plain_function_name(functions[i].name, text, sizeof(text)),
                            functions[i].plain);
        assert_int_equal(plain_is_called_part(functions[i].name), functions[i].is_part);
        assert_int_equal(plain_is_cold_part(functions[i].name), functions[i].is_cold);
    }
    assert_string_equal(plain_file_name("/lib/library.so", small, sizeof(small)), "libr");
}

static void errors_say_what_and_why(void **state)
{
    (void)state;
    struct argus_error *error = argus_error_os(ENOSPC, "cannot write %s", "x");
    assert_int_equal(error->code, ARGUS_ERROR_IO);
    assert_string_equal(error->message, "cannot write x: No space left on device");
    error = argus_error_context(error, "recording %d", 7);
    assert_string_equal(error->message, "recording 7: cannot write x: No space left on device");
    argus_error_destroy(error);
    error = argus_error_os(EACCES, "no");
    assert_int_equal(error->code, ARGUS_ERROR_PERMISSION);
    argus_error_destroy(error);
    error = argus_error_context(argus_error_memory(), "while");
    assert_ptr_equal(error, argus_error_memory());
    argus_error_destroy(error);
    argus_error_destroy(NULL);
}

struct foreign_case {
    const char *bytes;
    size_t length;
    const char *words;
};

#define BYTES(text) text, sizeof(text) - 1

/* Files that users pass by mistake instead of a trace. */
static const struct foreign_case foreign_cases[] = {
    {BYTES("PERFILE2\x68\0\0\0"), "it is a perf.data file (offset 0: PERFILE2); argus-import"},
    {BYTES("2ELIFREP\0\0"), "perf.data file of the other byte order"},
    {BYTES("\x17\x08\x44tracing6\0"), "a trace.dat file of trace-cmd"},
    {BYTES("\x57\x1d\xd1\x75\0\0"), "CTF metadata (offset 0: 0x75D11D57)"},
    {BYTES("\x75\xd1\x1d\x57\0\0"), "CTF metadata (offset 0: 0x75D11D57)"},
    {BYTES("/* CTF 1.8 */\n"), "CTF metadata (offset 0: /* CTF)"},
    {BYTES("\xc1\x1f\xfc\xc1\0"), "a CTF stream"},
    {BYTES("\x0a\x03\x08\x01\x02\x0a\x02\x08\x01"), "a Perfetto trace"},
    {BYTES("\xd4\xc3\xb2\xa1\x02\0"), "a pcap file"},
    {BYTES("\x0a\x0d\x0d\x0a\x1c\0"), "a pcapng file"},
    {BYTES("\x1f\x8b\x08\0"), "a gzip file (offset 0: 1f 8b); decompress it first (gunzip)"},
    {BYTES("\xfd"
           "7zXZ\0"),
     "an xz file"},
    {BYTES("\x28\xb5\x2f\xfd\x04"), "a zstd file"},
    {BYTES("\x7f"
           "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0"),
     "an ELF core file"},
    {BYTES("\x7f"
           "ELF\x02\x02\x01\0\0\0\0\0\0\0\0\0\0\x04"),
     "an ELF core file"},
    {BYTES("\x7f"
           "ELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0"),
     "an ELF program or library"},
    {BYTES("\x7f"
           "ELF"),
     "an ELF program or library"},
    {BYTES(" {\"traceEvents\": []}"), "a trace in Chrome's format (JSON)"},
    {BYTES("[{\"ph\": \"X\", \"ts\": 1}]"), "a trace in Chrome's format (JSON)"},
    {BYTES("{\"ph\": 7.2}"), "JSON text"},
    {BYTES("\x5e\x97\xca\xfd\x01"), "a capture of sysprof"},
    {BYTES("\x10\x00\x04\x46\x78\x54\x16\x00\x21"), "a Fuchsia trace"},
    {BYTES("SIMPLEPERF\x01\0\x2a\0\0\0"), "a report of Android's simpleperf"},
    {BYTES("SIMPLEPERF is a tool\n"), "plain text"},
    {BYTES("JAVA PROFILE 1.0.2\0\0\0\0\x08"), "a heap dump of Java"},
    {BYTES("JAVA PROFILE of the shop\n"), "plain text"},
    {BYTES("SLOW\x03\0\x20\0"), "a method trace of Android's runtime"},
    {BYTES("SLOW QUERIES of Monday\n"), "plain text"},
    {BYTES("SLOW"), "plain text"},
    {BYTES("*version\n3\n"), "a method trace of Android's runtime"},
    {BYTES("<!DOCTYPE html>"), "HTML or XML text"},
    {BYTES("root:x:0:0:root"),
     "it is plain text (offset 0: \"root:x:0:0:root\"); name a file that"},
    {BYTES("\n  a text\nthat begins with an empty line"), "plain text"},
    {BYTES("ARGUSSTP\x01"),
     "a step file of argus step (offset 0: ARGUSSTP); argus diverge reads it"},
    {BYTES("\x01\x02\xff\0\0\0\0\0\x09"),
     "it begins with the bytes 01 02 ff 00 00 00 00 00 (offset 0)"},
    {BYTES("\0"), "it begins with the bytes 00 (offset 0)"},
};

static void foreign_files_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(foreign_cases) / sizeof(foreign_cases[0]); i++) {
        const struct foreign_case *known = &foreign_cases[i];
        struct argus_error *error = foreign_format_error("x.data", "an Argus trace", "ARGUSTRC",
                                                         known->bytes, known->length);
        assert_int_equal(error->code, ARGUS_ERROR_FORMAT);
        if (!strstr(error->message, known->words) ||
            strncmp(error->message, "x.data is not an Argus trace: ", 30) != 0)
            fail_msg("\"%s\" instead of \"%s\"", error->message, known->words);
        argus_error_destroy(error);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_found_again),
        cmocka_unit_test(broken_utf8_is_repaired),
        cmocka_unit_test(what_terminals_obey_is_escaped),
        cmocka_unit_test(long_notes_are_cut_off),
        cmocka_unit_test(strings_are_kept_once),
        cmocka_unit_test(vectors_grow),
        cmocka_unit_test(plain_names_lack_versions_and_clones),
        cmocka_unit_test(errors_say_what_and_why),
        cmocka_unit_test(foreign_files_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
