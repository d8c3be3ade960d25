/* Names as people read them: symbols of real programs (rustc 1.95 in both manglings, g++ 12), and
 * how long names are shortened. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event/names/demangle.h"
#include "event/names/made_names.h"
#include "event/names/short_names.h"

static const struct {
    const char *symbol, *readable;
} symbols[] = {
    {"_RNvNtNtCs6GmmlP4bgsG_1r4deep2er8sleep_it", "r::deep::er::sleep_it"},
    {"_RINvCs6GmmlP4bgsG_1r7genericReKj2_EB2_", "r::generic::<&str, 2>"},
    {"_RNvXCs6GmmlP4bgsG_1rNtB2_2SqNtB2_5Shape4area", "<r::Sq as r::Shape>::area"},
    {"_RINvMs_Cs6GmmlP4bgsG_1rINtB5_6HolderNtNtCslNYArtu3iFV_5alloc6string6StringE5visitNCNvB5_"
     "4main0EB5_",
     "<r::Holder<alloc::string::String>>::visit::<r::main::{closure#0}>"},
    {"_RNvXs8_NtCslNYArtu3iFV_5alloc5boxedINtB5_3BoxDNtCs6GmmlP4bgsG_1r5ShapeEL_"
     "ENtNtNtCsgEmfK2I1SDS_4core3ops4drop4Drop4dropBK_",
     "<alloc::boxed::Box<dyn r::Shape> as core::ops::drop::Drop>::drop"},
    {"_ZN4core3ptr85drop_in_place$LT$std..rt..lang_start$LT$$LP$$RP$$GT$..$u7b$$u7b$closure$u7d$$"
     "u7d$$GT$17h0123456789abcdefE",
     "core::ptr::drop_in_place<std::rt::lang_start<()>::{{closure}}>"},
    {"_ZN34_$LT$r..Sq$u20$as$u20$r..Shape$GT$4area17h2e91c5350d839167E",
     "<r::Sq as r::Shape>::area"},
    {"_ZN10rust_loops7IS_DONE17hb69a0bbcee93b6a5E.0", "rust_loops::IS_DONE.0"},
    {"_ZN5store5buildEi", "store::build(int)"},
    {"main", NULL},
    {"_R", NULL},
    {"_RNvC", NULL},
    {"_RB_", NULL},      /* refers to itself */
    {"_RNvBz_1a", NULL}, /* refers to a later part */
    {"_RNvC9999999999999999999a1a", NULL},
    {"_RNvC1a1b.llvm.1234", "a::b"},
};

static void test_symbols(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
        char *name = demangle(symbols[i].symbol);
        if (symbols[i].readable)
            assert_string_equal(name ? name : symbols[i].symbol, symbols[i].readable);
        else
            assert_null(name);
        free(name);
    }
}

static const struct {
    const char *text, *function, *source;
    uint32_t line;
} made[] = {
    {"JS:~slowRead /home/me/app.js:3:18", "slowRead", "/home/me/app.js", 3},
    {"JS:*spin file:///a b.mjs:2:14", "spin", "file:///a b.mjs", 2},
    {"JS:*get x /a b.js:2:14", "get x", "/a b.js", 2},
    {"JS:*get x lib.js:2:14", "get x", "lib.js", 2},
    {"JS:~ /home/me/app.js:1:1", "(anonymous)", "/home/me/app.js", 1},
    {"JS:^Module.load node:internal/modules/cjs/loader:1257:33", "Module.load",
     "node:internal/modules/cjs/loader", 1257},
    {"JS:", "JS:", "", 0},
    {"JS:+", "JS:+", "", 0},
    {"JS:~x 1:2", "JS:~x 1:2", "", 0},
    {"py::Worker.run:/srv/app.py", "Worker.run", "/srv/app.py", 0},
    {"py::_find_spec:<frozen importlib._bootstrap>", "_find_spec", "<frozen importlib._bootstrap>",
     0},
    {"py::alone", "py::alone", "", 0},
    {"LazyCompile:~main", "LazyCompile:~main", "", 0},
};

static void test_made(void **state)
{
    struct strtab *texts = strtab_create();
    (void)state;
    for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
        struct argus_name_entry name = {.function = NULL};
        assert_null(made_name_read(made[i].text, texts, &name));
        assert_string_equal(name.function, made[i].function);
        assert_string_equal(name.source, made[i].source);
        assert_int_equal(name.line, made[i].line);
    }
    strtab_destroy(texts);
}

static const struct {
    const char *name, *wanted;
} shortened[] = {
    {"store::build(int)", "store::build(int)"},
    {"boost::asio::detail::scheduler::do_run_one(boost::asio::detail::conditionally_enabled_mutex::"
     "scoped_lock&)",
     "boost::asio::detail::scheduler::do_run_one(\xe2\x80\xa6)"},
    {"std::vector<std::pair<int, std::string>, std::allocator<int>> store::load_everything<int, "
     "char>(std::string const&)",
     "store::load_everything<int, char>(\xe2\x80\xa6)"},
    {"std::_Rb_tree<int, std::pair<int const, std::string>, std::_Select1st<std::pair<int const, "
     "std::string>>>::_M_erase(std::_Rb_tree_node<int>*)",
     "std::_Rb_tree<\xe2\x80\xa6>::_M_erase(\xe2\x80\xa6)"},
    {"(anonymous namespace)::Worker::operator()(std::unique_ptr<Task, std::default_delete<Task>>) "
     "const",
     "(anonymous namespace)::Worker::operator()(\xe2\x80\xa6) const"},
    {"std::basic_ostream<char, std::char_traits<char>>& operator<< "
     "<std::char_traits<char>>(std::basic_ostream<char>&, char const*)",
     "operator<< <std::char_traits<char>>(\xe2\x80\xa6)"},
    {"<alloc::boxed::Box<dyn editor::document::Reader<Item = u8>> as core::ops::drop::Drop>::drop",
     "<alloc::boxed::Box<\xe2\x80\xa6> as core::ops::drop::Drop>::drop"},
    {"std::thread::builder::Builder::spawn_unchecked::<editor::main::{closure#1}, ()>",
     "std::thread::builder::Builder::spawn_unchecked::<\xe2\x80\xa6>"},
    {"a name that never closes its bracket, however long it may be (((((((((((((((((",
     "a name that never closes its bracket, however long it may be ((((((((((((((((("},
};

static void test_short_names(void **state)
{
    (void)state;
    char name[512];
    for (size_t i = 0; i < sizeof(shortened) / sizeof(*shortened); i++) {
        snprintf(name, sizeof(name), "%s", shortened[i].name);
        short_name(name);
        assert_string_equal(name, shortened[i].wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_made),
        cmocka_unit_test(test_short_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
