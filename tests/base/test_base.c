#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "argus/error.h"
#include "base/idmap.h"
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
        {"\xf4\x90\x80\x80", "????"}, /* behind the last code point */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_found_again),     cmocka_unit_test(broken_utf8_is_repaired),
        cmocka_unit_test(strings_are_kept_once),   cmocka_unit_test(vectors_grow),
        cmocka_unit_test(errors_say_what_and_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
