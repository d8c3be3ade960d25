#include "base/plain_names.h"

#include <stdio.h>
#include <string.h>

#define HASH_DIGITS 16

/* Suffixes of copies that gcc and clang make of a function. The demangler writes them as
 * " [clone .isra.0]". */
static const struct {
    const char *text;
    bool has_number; /* always: ".isra.0" */
} clones[] = {
    {".isra", true},     {".constprop", true},   {".part", true}, {".cold", false},
    {".lto_priv", true}, {".localalias", false}, {".llvm", true}, {".clone", true},
};

/* Whether a suffix of a copy begins at `at`. Names of Go have points, too (server.coldStart,
 * app.part.func1), so what follows must fit. */
static bool is_suffix(const char *at)
{
    if (strncmp(at, " [clone ", strlen(" [clone ")) == 0)
        return true;
    for (size_t i = 0; i < sizeof(clones) / sizeof(clones[0]); i++) {
        size_t bytes = strlen(clones[i].text);
        if (strncmp(at, clones[i].text, bytes) != 0)
            continue;
        bool has_number = at[bytes] == '.' && at[bytes + 1] >= '0' && at[bytes + 1] <= '9';
        return has_number || (!clones[i].has_number && (!at[bytes] || is_suffix(at + bytes)));
    }
    return false;
}

size_t plain_function_bytes(const char *name)
{
    size_t length = strcspn(name, ". ");
    while (name[length] && (!length || !is_suffix(name + length)))
        length += 1 + strcspn(name + length + 1, ". ");
    return length;
}

static bool has_suffix(const char *name, const char *suffix)
{
    return strstr(name + plain_function_bytes(name), suffix) != NULL;
}

bool plain_is_called_part(const char *name)
{
    return has_suffix(name, ".part");
}

bool plain_is_cold_part(const char *name)
{
    return has_suffix(name, ".cold");
}

/* Rust's legacy mangling ends in "::h" and 16 hexadecimal digits. */
static size_t without_rust_hash(const char *name, size_t length)
{
    const size_t hash_bytes = 3 + HASH_DIGITS;
    if (length <= hash_bytes || strncmp(name + length - hash_bytes, "::h", 3) != 0)
        return length;
    bool is_hash = strspn(name + length - HASH_DIGITS, "0123456789abcdef") >= HASH_DIGITS;
    return is_hash ? length - hash_bytes : length;
}

const char *plain_function_name(const char *name, char *buffer, size_t bytes)
{
    size_t length = plain_function_bytes(name);
    snprintf(buffer, bytes, "%.*s", (int)without_rust_hash(name, length), name);
    return buffer;
}

/* The length of the number at `at` with the separators before it ("-15", ".1"); 0: none begins
 * there. */
static size_t number_bytes(const char *at)
{
    size_t separators = strspn(at, ".-_"), digits = strspn(at + separators, "0123456789");
    return digits ? separators + digits : 0;
}

const char *plain_file_name(const char *path, char *buffer, size_t bytes)
{
    const char *slash = strrchr(path, '/');
    size_t length = 0;
    for (const char *at = slash ? slash + 1 : path; *at && length + 1 < bytes;) {
        size_t number = number_bytes(at);
        at += number;
        if (!number)
            buffer[length++] = *at++;
    }
    if (bytes)
        buffer[length] = '\0';
    return buffer;
}
