/* A recursive-descent parser for Rust's symbols (RFC 2603, "v0"): a symbol is a path, and a letter
 * gives the kind of each part. A part can refer back to an earlier position, so a short symbol can
 * stand for a long or infinite name. Therefore the output, the nesting depth and the number of
 * parts are bounded.
 *
 * Debian has no suitable C library: libiberty's archive cannot be linked into shared objects,
 * LLVM's demangler brings all of LLVM, and rustc-demangle is Rust source.
 */
#include "event/names/rust_names.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096, DEEPEST = 128, MOST_PARTS = 20000 };

struct rust {
    const char *text; /* behind "_R" */
    size_t at, end;
    char name[LONGEST]; /* the output */
    size_t length;
    unsigned depth, parts, binders; /* `binders`: number of lifetimes bound by enclosing "for<…>" */
    bool silent;                    /* parses without output */
    bool bad;                       /* sticky */
};

static void read_path(struct rust *rust, bool in_value);
static void read_type(struct rust *rust);
static void read_constant(struct rust *rust);

static __attribute__((format(printf, 2, 3))) void put(struct rust *rust, const char *format, ...)
{
    va_list args;
    if (rust->silent || rust->bad)
        return;
    size_t room = sizeof(rust->name) - rust->length;
    va_start(args, format);
    int length = vsnprintf(rust->name + rust->length, room, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= room)
        rust->bad = true;
    else
        rust->length += (size_t)length;
}

/* --- letters and numbers --- */

static char peek(const struct rust *rust)
{
    return !rust->bad && rust->at < rust->end ? rust->text[rust->at] : '\0';
}

static char take(struct rust *rust)
{
    char letter = peek(rust);
    rust->bad |= letter == '\0';
    rust->at += !rust->bad;
    return letter;
}

static bool take_if(struct rust *rust, char letter)
{
    if (peek(rust) != letter)
        return false;
    rust->at++;
    return true;
}

static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 10;
    return letter >= 'A' && letter <= 'Z' ? letter - 'A' + 36 : -1;
}

/* "_" is 0, "0_" is 1, "1_" is 2 … */
static uint64_t read_base62(struct rust *rust)
{
    uint64_t value = 0;
    if (take_if(rust, '_'))
        return 0;
    while (!take_if(rust, '_')) {
        int digit = digit_of(take(rust));
        rust->bad |= digit < 0 || value > UINT64_MAX / 62 - 1;
        if (rust->bad)
            return 0;
        value = value * 62 + (uint64_t)digit;
    }
    return value + 1;
}

/* If `tag` follows: 1 and the number behind it; else 0. */
static uint64_t read_tagged(struct rust *rust, char tag)
{
    return take_if(rust, tag) ? read_base62(rust) + 1 : 0;
}

static uint64_t read_decimal(struct rust *rust)
{
    uint64_t value = 0;
    if (peek(rust) < '0' || peek(rust) > '9')
        rust->bad = true;
    if (take_if(rust, '0'))
        return 0;
    while (peek(rust) >= '0' && peek(rust) <= '9' && value < LONGEST)
        value = value * 10 + (uint64_t)(take(rust) - '0');
    return value;
}

struct identifier {
    const char *text;
    size_t length;
    uint64_t disambiguator;
    bool is_punycode;
};

static struct identifier read_undisambiguated(struct rust *rust)
{
    struct identifier found = {.is_punycode = take_if(rust, 'u')};
    found.length = read_decimal(rust);
    take_if(rust, '_');
    if (rust->bad || found.length > rust->end - rust->at) {
        rust->bad = true;
        return (struct identifier){.text = ""};
    }
    found.text = rust->text + rust->at;
    rust->at += found.length;
    return found;
}

static struct identifier read_identifier(struct rust *rust)
{
    uint64_t disambiguator = read_tagged(rust, 's');
    struct identifier found = read_undisambiguated(rust);
    found.disambiguator = disambiguator;
    return found;
}

/* Non-ASCII letters stay in their encoded form. */
static void put_identifier(struct rust *rust, struct identifier identifier)
{
    put(rust, identifier.is_punycode ? "punycode{%.*s}" : "%.*s", (int)identifier.length,
        identifier.text);
}

/* Counts a nested part; false: there are too many. */
static bool enter(struct rust *rust)
{
    rust->depth++;
    rust->bad |= rust->depth > DEEPEST || ++rust->parts > MOST_PARTS;
    return !rust->bad;
}

/* Runs `read` at an earlier position; skipped when silent. */
static void read_back(struct rust *rust, void (*read)(struct rust *rust))
{
    size_t begin = rust->at - 1;
    uint64_t target = read_base62(rust);
    size_t behind = rust->at;
    rust->bad |= target >= begin;
    if (rust->bad || rust->silent)
        return;
    rust->at = (size_t)target;
    read(rust);
    rust->at = behind;
}

static void path_in_value(struct rust *rust)
{
    read_path(rust, true);
}

static void path_in_type(struct rust *rust)
{
    read_path(rust, false);
}

/* --- lifetimes --- */

static void put_lifetime(struct rust *rust, uint64_t index)
{
    if (index == 0) {
        put(rust, "'_");
        return;
    }
    if (index > rust->binders) {
        rust->bad = true;
        return;
    }
    uint64_t depth = rust->binders - index;
    if (depth < 26)
        put(rust, "'%c", (char)('a' + depth));
    else
        put(rust, "'_%" PRIu64, depth);
}

/* "for<'a, 'b> "; the caller subtracts what it added to `binders`. */
static void read_binder(struct rust *rust)
{
    uint64_t count = read_tagged(rust, 'G');
    if (!count || rust->bad)
        return;
    put(rust, "for<");
    for (uint64_t i = 0; i < count && !rust->bad; i++) {
        rust->bad |= ++rust->binders > LONGEST;
        put(rust, "%s", i ? ", " : "");
        put_lifetime(rust, 1);
    }
    put(rust, "> ");
}

/* --- paths --- */

static void read_generic(struct rust *rust)
{
    if (take_if(rust, 'L'))
        put_lifetime(rust, read_base62(rust));
    else if (take_if(rust, 'K'))
        read_constant(rust);
    else
        read_type(rust);
}

/* Reads up to "E" and returns the number of parts. */
static unsigned read_list(struct rust *rust, void (*read)(struct rust *rust))
{
    unsigned count = 0;
    while (!rust->bad && !take_if(rust, 'E')) {
        put(rust, "%s", count++ ? ", " : "");
        read(rust);
    }
    return count;
}

/* The path of an implementation is not printed, because the type already identifies it. */
static void skip_impl_path(struct rust *rust)
{
    bool silent = rust->silent;
    rust->silent = true;
    read_tagged(rust, 's');
    read_path(rust, false);
    rust->silent = silent;
}

/* A name in a namespace; a capital letter is a namespace of the compiler. */
static void read_nested(struct rust *rust, bool in_value)
{
    char space = take(rust);
    read_path(rust, in_value);
    struct identifier identifier = read_identifier(rust);
    if (space >= 'a' && space <= 'z') {
        put(rust, "%s", identifier.length ? "::" : "");
        put_identifier(rust, identifier);
        return;
    }
    if (space == 'C')
        put(rust, "::{closure");
    else if (space == 'S')
        put(rust, "::{shim");
    else
        put(rust, "::{%c", space);
    put(rust, "%s", identifier.length ? ":" : "");
    put_identifier(rust, identifier);
    put(rust, "#%" PRIu64 "}", identifier.disambiguator);
}

static void read_implementation(struct rust *rust, char tag)
{
    if (tag != 'Y')
        skip_impl_path(rust);
    put(rust, "<");
    read_type(rust);
    if (tag != 'M') {
        put(rust, " as ");
        read_path(rust, false);
    }
    put(rust, ">");
}

static void read_path(struct rust *rust, bool in_value)
{
    char tag = enter(rust) ? take(rust) : '\0';
    switch (tag) {
    case 'C':
        put_identifier(rust, read_identifier(rust));
        break;
    case 'N':
        read_nested(rust, in_value);
        break;
    case 'M':
    case 'X':
    case 'Y':
        read_implementation(rust, tag);
        break;
    case 'I':
        read_path(rust, in_value);
        put(rust, in_value ? "::<" : "<");
        read_list(rust, read_generic);
        put(rust, ">");
        break;
    case 'B':
        read_back(rust, in_value ? path_in_value : path_in_type);
        break;
    default:
        rust->bad = true;
    }
    rust->depth--;
}

/* --- types --- */

/* The basic types, by letter. */
static const char *const basic_types[26] = {
    ['a' - 'a'] = "i8",    ['b' - 'a'] = "bool", ['c' - 'a'] = "char", ['d' - 'a'] = "f64",
    ['e' - 'a'] = "str",   ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize",
    ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",  ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128",
    ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",    ['s' - 'a'] = "i16",  ['t' - 'a'] = "u16",
    ['u' - 'a'] = "()",    ['v' - 'a'] = "...",  ['x' - 'a'] = "i64",  ['y' - 'a'] = "u64",
    ['z' - 'a'] = "!",
};

static void read_reference(struct rust *rust, char tag)
{
    put(rust, "&");
    if (take_if(rust, 'L')) {
        uint64_t index = read_base62(rust);
        if (index) {
            put_lifetime(rust, index);
            put(rust, " ");
        }
    }
    put(rust, tag == 'Q' ? "mut " : "");
    read_type(rust);
}

static void read_function(struct rust *rust)
{
    unsigned binders = rust->binders;
    read_binder(rust);
    put(rust, take_if(rust, 'U') ? "unsafe " : "");
    if (take_if(rust, 'K')) {
        struct identifier abi = {.text = "C", .length = 1};
        if (!take_if(rust, 'C'))
            abi = read_undisambiguated(rust);
        put(rust, "extern \"%.*s\" ", (int)abi.length, abi.text);
    }
    put(rust, "fn(");
    read_list(rust, read_type);
    put(rust, ")");
    if (!take_if(rust, 'u')) { /* no return type */
        put(rust, " -> ");
        read_type(rust);
    }
    rust->binders = binders;
}

/* A path whose argument list is left open. */
static bool read_open_path(struct rust *rust)
{
    bool open = false;
    if (take_if(rust, 'B')) {
        size_t begin = rust->at - 1;
        uint64_t target = read_base62(rust);
        size_t behind = rust->at;
        rust->bad |= target >= begin;
        if (!enter(rust) || rust->silent)
            return false;
        rust->at = (size_t)target;
        open = read_open_path(rust);
        rust->at = behind;
        rust->depth--;
    } else if (take_if(rust, 'I')) {
        read_path(rust, false);
        put(rust, "<");
        read_list(rust, read_generic);
        open = true;
    } else {
        read_path(rust, false);
    }
    return open;
}

static void read_dyn_trait(struct rust *rust)
{
    bool open = read_open_path(rust);
    while (!rust->bad && take_if(rust, 'p')) {
        put(rust, open ? ", " : "<");
        open = true;
        put_identifier(rust, read_undisambiguated(rust));
        put(rust, " = ");
        read_type(rust);
    }
    put(rust, open ? ">" : "");
}

static void read_dyn(struct rust *rust)
{
    unsigned binders = rust->binders;
    put(rust, "dyn ");
    read_binder(rust);
    for (unsigned i = 0; !rust->bad && !take_if(rust, 'E'); i++) {
        put(rust, "%s", i ? " + " : "");
        read_dyn_trait(rust);
    }
    rust->binders = binders;
    rust->bad |= !take_if(rust, 'L');
    uint64_t index = rust->bad ? 0 : read_base62(rust);
    if (index) {
        put(rust, " + ");
        put_lifetime(rust, index);
    }
}

/* A type composed of other types. */
static void read_compound(struct rust *rust, char tag)
{
    switch (tag) {
    case 'A':
    case 'S':
        put(rust, "[");
        read_type(rust);
        if (tag == 'A') {
            put(rust, "; ");
            read_constant(rust);
        }
        put(rust, "]");
        break;
    case 'T':
        put(rust, "(");
        put(rust, read_list(rust, read_type) == 1 ? ",)" : ")");
        break;
    case 'R':
    case 'Q':
        read_reference(rust, tag);
        break;
    case 'P':
    case 'O':
        put(rust, tag == 'P' ? "*const " : "*mut ");
        read_type(rust);
        break;
    case 'F':
        read_function(rust);
        break;
    case 'D':
        read_dyn(rust);
        break;
    case 'B':
        read_back(rust, read_type);
        break;
    default: /* a path */
        rust->at--;
        read_path(rust, false);
    }
}

static void read_type(struct rust *rust)
{
    char tag = enter(rust) ? take(rust) : '\0';
    if (tag >= 'a' && tag <= 'z' && basic_types[tag - 'a'])
        put(rust, "%s", basic_types[tag - 'a']);
    else if (tag)
        read_compound(rust, tag);
    rust->depth--;
}

/* --- constants --- */

static void put_number(struct rust *rust, const char *digits, size_t count)
{
    uint64_t value = 0;
    if (count > 16) {
        put(rust, "0x%.*s", (int)count, digits);
        return;
    }
    for (size_t i = 0; i < count; i++)
        value = value << 4 | (uint64_t)digit_of(digits[i]);
    put(rust, "%" PRIu64, value);
}

/* An integer, boolean or character; other constants (text, arrays, structures) are not
 * supported. */
static void read_constant(struct rust *rust)
{
    char tag = enter(rust) ? take(rust) : '\0';
    if (tag == 'p') {
        put(rust, "_");
    } else if (tag == 'B') {
        read_back(rust, read_constant);
    } else if (tag && strchr("abchijlmnostxy", tag)) {
        put(rust, take_if(rust, 'n') ? "-" : "");
        const char *digits = rust->text + rust->at;
        size_t count = 0;
        while (digit_of(peek(rust)) >= 0 && digit_of(peek(rust)) < 16) {
            rust->at++;
            count++;
        }
        rust->bad |= !take_if(rust, '_');
        if (tag == 'b')
            put(rust, count == 1 && digits[0] == '1' ? "true" : "false");
        else if (tag == 'c' && count == 2)
            put(rust, "'%c'", (char)(digit_of(digits[0]) * 16 + digit_of(digits[1])));
        else
            put_number(rust, digits, rust->bad ? 0 : count);
    } else {
        rust->bad = true;
    }
    rust->depth--;
}

/* --- symbols --- */

char *rust_demangle(const char *symbol)
{
    size_t length = strnlen(symbol, LONGEST);
    if (strncmp(symbol, "_R", 2) != 0 || length == LONGEST)
        return NULL;
    struct rust *rust = calloc(1, sizeof(*rust));
    if (!rust)
        return NULL;
    rust->text = symbol + 2;
    rust->end = strcspn(rust->text, ".$"); /* what follows was added by the compiler */
    read_path(rust, true);
    if (rust->at < rust->end) { /* the crate that instantiated it */
        rust->silent = true;
        read_path(rust, false);
    }
    bool good = !rust->bad && rust->at == rust->end && rust->length;
    char *name = good ? strdup(rust->name) : NULL;
    free(rust);
    return name;
}

/* What the legacy form spells out, besides characters by number ("$u7b$"). */
static const struct {
    const char *spelt, *meant;
} spellings[] = {
    {"$LT$", "<"}, {"$GT$", ">"}, {"$RF$", "&"}, {"$BP$", "*"}, {"$LP$", "("},
    {"$RP$", ")"}, {"$C$", ","},  {"$SP$", "@"}, {"..", "::"},
};

enum { SPELLINGS = sizeof(spellings) / sizeof(spellings[0]), HASH_BYTES = 19 };

static bool ends_in_hash(const char *name, size_t length)
{
    if (length < HASH_BYTES || strncmp(name + length - HASH_BYTES, "::h", 3) != 0)
        return false;
    return strspn(name + length - HASH_BYTES + 3, "0123456789abcdef") == HASH_BYTES - 3;
}

/* Writes the character that begins at `from` to `ret`; returns how many bytes it takes in the
 * input, which is never less than in `ret`. */
static size_t take_spelling(const char *from, char *ret, size_t *ret_length)
{
    unsigned number;
    int bytes = 0;
    for (size_t i = 0; i < SPELLINGS; i++) {
        size_t length = strlen(spellings[i].spelt);
        if (strncmp(from, spellings[i].spelt, length) != 0)
            continue;
        *ret_length = strlen(spellings[i].meant);
        memcpy(ret, spellings[i].meant, *ret_length);
        return length;
    }
    *ret_length = 1;
    *ret = *from;
    if (sscanf(from, "$u%2x$%n", &number, &bytes) != 1 || bytes != 5 || number < 0x20)
        return 1;
    *ret = (char)number;
    return (size_t)bytes;
}

void rust_undo_legacy(char *name)
{
    size_t length = strlen(name), to = 0, made;
    char part[2];
    if (!ends_in_hash(name, length))
        return;
    name[length - HASH_BYTES] = '\0';
    for (const char *from = name; *from; to += made) {
        bool begins = from == name || from[-1] == ':';
        from += begins && from[0] == '_' && from[1] == '$'; /* a part cannot begin with "$" */
        from += take_spelling(from, part, &made);
        memcpy(name + to, part, made);
    }
    name[to] = '\0';
}
