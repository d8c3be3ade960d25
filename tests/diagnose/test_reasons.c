/* Every reason has a sentence, and every word in braces is a field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/reason_sentences.h"
#include "report/reason_words.h"

static void test_each_kind_has_a_sentence(void **state)
{
    (void)state;
    for (int kind = ARGUS_REASON_NONE + 1; kind < ARGUS_REASON_COUNT; kind++)
        if (!*reason_sentence((enum argus_reason_kind)kind))
            fail_msg("kind %d has no sentence", kind);
    assert_string_equal(reason_sentence(ARGUS_REASON_NONE), "");
    assert_string_equal(reason_sentence(ARGUS_REASON_COUNT), "");
}

static void test_each_word_in_braces_is_a_field(void **state)
{
    (void)state;
    for (int kind = 0; kind < ARGUS_REASON_COUNT; kind++) {
        const char *at = reason_sentence((enum argus_reason_kind)kind);
        while ((at = strchr(at, '{')) != NULL) {
            const char *end = strchr(at, '}');
            assert_non_null(end);
            if (!reason_has_field(at + 1, (size_t)(end - at - 1)))
                fail_msg("kind %d: no field %.*s", kind, (int)(end - at + 1), at);
            at = end;
        }
    }
    assert_false(reason_has_field("nobody", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_has_a_sentence),
        cmocka_unit_test(test_each_word_in_braces_is_a_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
