/* Texts without personal parts. What was replaced before stays, so that a text can be treated
 * again. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "fleet/anonymous.h"
#include "fleet/pseudonym.h"

enum { PSEUDONYM_BYTES = 96 };

/* Folders whose next component is a user, wherever they are mounted. Others are one user's home. */
static const struct {
    const char *folder;
    bool has_user;
} homes[] = {{"/home/", true},      {"/root/", false},         {"/Users/", true},
             {"/var/home/", true},  {"/run/user/", true},      {"/media/", true},
             {"/run/media/", true}, {"/export/home/", true},   {"~/", false},
             {"/var/mail/", true},  {"/var/spool/mail/", true}};

struct writer {
    const struct fleet_anonymizer *anonymizer;
    char *buffer;
    size_t bytes, length;
};

static void put(struct writer *writer, const char *text, size_t length)
{
    size_t room = writer->bytes - 1 - writer->length;
    length = length < room ? length : room;
    memcpy(writer->buffer + writer->length, text, length);
    writer->buffer[writer->length += length] = '\0';
}

/* A text that is a pseudonym of this kind stays. */
static void put_pseudonym(struct writer *writer, const char *kind, const char *text, size_t length)
{
    char name[PSEUDONYM_BYTES];
    if (is_pseudonym(text, length, kind)) {
        put(writer, text, length);
        return;
    }
    pseudonym(writer->anonymizer->salt, kind, text, length, name, sizeof(name));
    put(writer, name, strlen(name));
}

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (unsigned char)letter >= 0x80;
}

static bool is_digit(char letter)
{
    return isdigit((unsigned char)letter);
}

/* --- the rules: each returns how many bytes of `text` it replaced, 0: it does not apply --- */

/* The end of a path. It may contain blanks, commas and parentheses, so too much is taken rather
 * than too little: in parentheses, up to the one that closes them. */
static size_t path_bytes(const char *whole, const char *text)
{
    int around = 0, inside = 0;
    for (const char *at = whole; at < text; at++)
        around += *at == '(' ? 1 : *at == ')' && around ? -1 : 0;
    const char *at = text;
    for (; *at; at++) {
        inside += *at == '(' ? 1 : *at == ')' ? -1 : 0;
        if (around ? inside < 0 : *at == '"' || (*at == ';' && (at[1] == ' ' || !at[1])))
            break;
    }
    return (size_t)(at - text);
}

static size_t replace_home(struct writer *writer, const char *whole, const char *text)
{
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        size_t folder = strlen(homes[i].folder);
        if (strncmp(text, homes[i].folder, folder) != 0)
            continue;
        size_t length = path_bytes(whole, text), user = 0;
        if (length < folder)
            continue;
        put(writer, homes[i].folder, folder);
        if (homes[i].has_user && !is_pseudonym(text + folder, length - folder, "path"))
            user = strcspn(text + folder, "/) ;,\"");
        user = user < length - folder ? user : length - folder;
        if (user)
            put_pseudonym(writer, "user", text + folder, user);
        if (user && length > folder + user)
            put(writer, "/", 1);
        size_t rest = folder + user + (user > 0);
        if (length > rest && is_pseudonym(text + rest, length - rest, "path"))
            put(writer, text + rest, length - rest);
        else if (length > folder + user)
            put_pseudonym(writer, "path", text, length);
        return length;
    }
    return 0;
}

/* Whether an address of version 6 may begin here: not inside the name of a C++ function. */
static bool may_begin_v6(const char *whole, const char *text)
{
    if (text == whole)
        return true;
    return !is_word(text[-1]) && text[-1] != '.' &&
           (text[-1] != ':' || text - whole < 2 || text[-2] != ':');
}

/* An IP address, with or without brackets around it. */
static size_t replace_address(struct writer *writer, const char *whole, const char *text)
{
    unsigned char address[16];
    char word[INET6_ADDRSTRLEN];
    bool may_be_4 = text == whole || (!is_digit(text[-1]) && text[-1] != '.');
    bool may_be_6 = may_begin_v6(whole, text);
    size_t length = strspn(text, "0123456789abcdefABCDEF.:");
    length = length < sizeof(word) - 1 ? length : sizeof(word) - 1;
    for (; (may_be_4 || may_be_6) && length >= 2; length--) {
        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        if ((may_be_4 && !is_digit(text[length]) && strspn(word, "0123456789.") == length &&
             inet_pton(AF_INET, word, address) == 1) ||
            (may_be_6 && !is_word(text[length]) && strchr(word, ':') &&
             inet_pton(AF_INET6, word, address) == 1)) {
            put_pseudonym(writer, "host", text, length);
            return length;
        }
    }
    return 0;
}

/* The user and the host that run this program. */
static size_t replace_own_names(struct writer *writer, const char *whole, const char *text)
{
    const struct {
        const char *name, *kind;
    } names[] = {{writer->anonymizer->user, "user"}, {writer->anonymizer->host, "host"}};
    if (text > whole && is_word(text[-1]))
        return 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t length = strlen(names[i].name);
        if (length < 3 || strncmp(text, names[i].name, length) != 0 || is_word(text[length]))
            continue;
        put_pseudonym(writer, names[i].kind, text, length);
        return length;
    }
    return 0;
}

static bool is_in_name(char letter)
{
    return is_word(letter) || letter == '.' || letter == '-';
}

/* "NAME@HOST", e.g. of a title that a program gave itself. */
static size_t replace_account(struct writer *writer, const char *whole, const char *text)
{
    size_t name = 0, host;
    if (text > whole && is_in_name(text[-1]))
        return 0;
    while (is_in_name(text[name]))
        name++;
    if (!name || text[name] != '@' || !is_word(text[name + 1]))
        return 0;
    for (host = name + 1; is_in_name(text[host]); host++)
        ;
    put_pseudonym(writer, "user", text, name);
    put(writer, "@", 1);
    put_pseudonym(writer, "host", text + name + 1, host - name - 1);
    return host;
}

/* What was replaced before. */
static size_t keep_pseudonym(struct writer *writer, const char *whole, const char *text)
{
    static const char *const kinds[] = {"user", "host", "path", "argument", "machine", "file"};
    if (text > whole && is_word(text[-1]))
        return 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        size_t length = strlen(kinds[i]) + PSEUDONYM_DIGITS + 1;
        if (strnlen(text, length) == length && is_pseudonym(text, length, kinds[i]) &&
            !is_word(text[length])) {
            put(writer, text, length);
            return length;
        }
    }
    return 0;
}

const char *fleet_anonymous_text(const struct fleet_anonymizer *anonymizer, const char *text,
                                 char *buffer, size_t bytes)
{
    static size_t (*const rules[])(struct writer *, const char *, const char *) = {
        replace_home, replace_account, keep_pseudonym, replace_address, replace_own_names};
    struct writer writer = {.anonymizer = anonymizer, .buffer = buffer, .bytes = bytes};
    buffer[0] = '\0';
    for (const char *at = text; *at;) {
        size_t done = 0;
        for (size_t i = 0; !done && i < sizeof(rules) / sizeof(rules[0]); i++)
            done = rules[i](&writer, text, at);
        if (!done)
            put(&writer, at, done = 1);
        at += done;
    }
    return buffer;
}

/* Where the arguments begin: after the first ": ", '/' or '='; at the end: there are none. */
static size_t arguments_at(const char *name)
{
    size_t end = strcspn(name, "/=");
    const char *colon = strstr(name, ": ");
    if (colon && (size_t)(colon - name) < end)
        return (size_t)(colon - name) + 2;
    return end + (name[end] != '\0');
}

const char *fleet_anonymous_name(const struct fleet_anonymizer *anonymizer, const char *name,
                                 char *buffer, size_t bytes)
{
    size_t arguments = arguments_at(name);
    size_t separator = arguments && name[arguments - 1] == ' ' ? 2 : 1;
    struct writer writer = {.anonymizer = anonymizer, .buffer = buffer, .bytes = bytes};
    if (!name[arguments])
        return fleet_anonymous_text(anonymizer, name, buffer, bytes);
    char kept[ANONYMOUS_NAME_BYTES];
    snprintf(kept, sizeof(kept), "%.*s", (int)(arguments - separator), name);
    fleet_anonymous_text(anonymizer, kept, buffer, bytes);
    writer.length = strlen(buffer);
    put(&writer, name + arguments - separator, separator);
    put_pseudonym(&writer, "argument", name + arguments, strlen(name + arguments));
    return buffer;
}
