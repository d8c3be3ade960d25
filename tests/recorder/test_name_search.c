/* Which names are suggested for a name that no thread has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "recorder/server/name_search.h"

static void offer(struct name_search *search, const char *const *names)
{
    for (; *names; names++)
        name_search_offer(search, *names);
}

static void a_name_is_found(void **state)
{
    static const char *const names[] = {"bash", "editor", "edit", NULL};
    struct name_search search = {.wanted = "editor"};
    (void)state;
    offer(&search, names);
    assert_true(search.found);
}

static void the_nearest_come_first_and_once(void **state)
{
    static const char *const names[] = {"editors", "bash",    "Editor", "editor2x", "editor",
                                        "editors", "kthread", "",       "editor",   NULL};
    struct name_search search = {.wanted = "editr"};
    char text[256];
    (void)state;
    offer(&search, names);
    assert_false(search.found);
    name_search_write(&search, text, sizeof(text));
    assert_string_equal(text, "--unwind editr: no process or thread of this name was seen, so no "
                              "stacks of it were copied; names like it: Editor, editor, editors");
}

static void a_part_of_a_name_is_like_it(void **state)
{
    static const char *const names[] = {"gnome-terminal-", "x", NULL};
    struct name_search search = {.wanted = "terminal"};
    (void)state;
    offer(&search, names);
    assert_int_equal(search.like_count, 1);
    assert_string_equal(search.like[0], "gnome-terminal-");
}

static void nothing_is_like_it(void **state)
{
    static const char *const names[] = {"bash", "systemd", NULL};
    struct name_search search = {.wanted = "firefox"};
    char text[16];
    (void)state;
    offer(&search, names);
    assert_int_equal(search.like_count, 0);
    name_search_write(&search, text, sizeof(text));
    assert_string_equal(text, "--unwind firefo");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found),
        cmocka_unit_test(the_nearest_come_first_and_once),
        cmocka_unit_test(a_part_of_a_name_is_like_it),
        cmocka_unit_test(nothing_is_like_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
