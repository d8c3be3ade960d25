#include "fleet/anonymous.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash64.h"
#include "fleet/fleet_names.h"
#include "fleet/pseudonym.h"
#include "report/json.h"

enum { TEXT_BYTES = 4096, NAME_BYTES = 96 };

/* Folders whose next component is a user. "": there is none, it is one user's home. */
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

static void put_pseudonym(struct writer *writer, const char *kind, const char *text, size_t length)
{
    char name[NAME_BYTES];
    pseudonym(writer->anonymizer->salt, kind, text, length, name, sizeof(name));
    put(writer, name, strlen(name));
}

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_' || (unsigned char)letter >= 0x80;
}

/* --- the rules: each returns how many bytes of `text` it replaced, 0: it does not apply --- */

/* The end of a path. It may contain blanks and commas, so too much is taken rather than too
 * little. */
static size_t path_bytes(const char *whole, const char *text)
{
    int open = 0;
    for (const char *at = whole; at < text; at++)
        open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    return strcspn(text, open > 0 ? ")" : ";\"");
}

static size_t replace_home(struct writer *writer, const char *whole, const char *text)
{
    if (text > whole && (is_word(text[-1]) || text[-1] == '/' || text[-1] == '.'))
        return 0;
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        size_t folder = strlen(homes[i].folder), length = path_bytes(whole, text);
        if (strncmp(text, homes[i].folder, folder) != 0 || length < folder)
            continue;
        put(writer, homes[i].folder, folder);
        size_t user = homes[i].has_user ? strcspn(text + folder, "/) ;,\"") : 0;
        if (user)
            put_pseudonym(writer, "user", text + folder, user);
        if (user && length > folder + user)
            put(writer, "/", 1);
        if (length > folder + user)
            put_pseudonym(writer, "path", text, length);
        return length;
    }
    return 0;
}

/* An IP address, with or without brackets around it. */
static size_t replace_address(struct writer *writer, const char *whole, const char *text)
{
    unsigned char address[16];
    char word[INET6_ADDRSTRLEN];
    size_t length = strspn(text, "0123456789abcdefABCDEF.:");
    if (text > whole && (is_word(text[-1]) || text[-1] == '.' || text[-1] == ':'))
        return 0;
    for (; length >= 2; length--) {
        if (length >= sizeof(word) || is_word(text[length]))
            continue;
        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        bool is_4 = strspn(word, "0123456789.") == length && inet_pton(AF_INET, word, address) == 1;
        if (is_4 || (strchr(word, ':') && inet_pton(AF_INET6, word, address) == 1)) {
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

/* "NAME@HOST", e.g. of a title that a program gave itself. */
static size_t replace_account(struct writer *writer, const char *whole, const char *text)
{
    size_t name = 0, host;
    if (text > whole && (is_word(text[-1]) || text[-1] == '.' || text[-1] == '-'))
        return 0;
    while (is_word(text[name]) || text[name] == '.' || text[name] == '-')
        name++;
    if (!name || text[name] != '@' || !is_word(text[name + 1]))
        return 0;
    for (host = name + 1; is_word(text[host]) || text[host] == '.' || text[host] == '-'; host++)
        ;
    put_pseudonym(writer, "user", text, name);
    put(writer, "@", 1);
    put_pseudonym(writer, "host", text + name + 1, host - name - 1);
    return host;
}

void fleet_anonymizer_init(struct fleet_anonymizer *anonymizer, const char *salt)
{
    const struct passwd *user = getpwuid(getuid());
    *anonymizer = (struct fleet_anonymizer){.salt = salt};
    if (user && user->pw_uid)
        snprintf(anonymizer->user, sizeof(anonymizer->user), "%s", user->pw_name);
    if (gethostname(anonymizer->host, sizeof(anonymizer->host) - 1) != 0 ||
        strcmp(anonymizer->host, "localhost") == 0)
        anonymizer->host[0] = '\0';
}

const char *fleet_anonymous_text(const struct fleet_anonymizer *anonymizer, const char *text,
                                 char *buffer, size_t bytes)
{
    static size_t (*const rules[])(struct writer *, const char *, const char *) = {
        replace_home, replace_account, replace_address, replace_own_names};
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

/* --- rows --- */

/* A program's name for itself may contain its arguments: "sshd: alice [priv]", "sh /home/x". */
static const char *without_arguments(const struct fleet_anonymizer *anonymizer, const char *name,
                                     char *buffer, size_t bytes)
{
    const char *arguments = strstr(name, ": ");
    size_t keep = arguments ? (size_t)(arguments - name) + 2 : strcspn(name, "/=@");
    struct writer writer = {.anonymizer = anonymizer, .buffer = buffer, .bytes = bytes};
    buffer[0] = '\0';
    if (!name[keep] || strncmp(name + keep, "argument-", 9) == 0)
        return fleet_anonymous_text(anonymizer, name, buffer, bytes);
    put(&writer, name, keep);
    put_pseudonym(&writer, "argument", name + keep, strlen(name + keep));
    return buffer;
}

static const char *text_of(const json_t *row, const char *member)
{
    return json_string_value(json_object_get(row, member));
}

static bool set(json_t *row, const char *member, const char *text)
{
    return json_object_set_new(row, member, json_text(text)) == 0;
}

/* Texts that are made of names of programs, among other things. */
static const char *const texts[] = {"what",          "parts", "cause", "call", "culprit_function",
                                    "culprit_image", "path",  "wait"};
enum { TEXTS = sizeof(texts) / sizeof(texts[0]) };

static bool replace_everywhere(const struct fleet_anonymizer *anonymizer, json_t *row,
                               const char *name, const char *by)
{
    char buffer[TEXT_BYTES];
    size_t length = strlen(name);
    bool good = true;
    for (size_t i = 0; length && i < TEXTS; i++) {
        const char *text = text_of(row, texts[i]);
        struct writer writer = {
            .anonymizer = anonymizer, .buffer = buffer, .bytes = sizeof(buffer)};
        buffer[0] = '\0';
        while (text && *text) {
            bool found = strncmp(text, name, length) == 0;
            put(&writer, found ? by : text, found ? strlen(by) : 1);
            text += found ? length : 1;
        }
        if (text)
            good = set(row, texts[i], buffer) && good;
    }
    return good;
}

/* Replaces the arguments in a name, there and in all texts: there long numbers are "#". */
static bool change_name(const struct fleet_anonymizer *anonymizer, json_t *row, const char *member)
{
    char before[NAME_BYTES], after[TEXT_BYTES], in_texts[NAME_BYTES];
    const char *name = text_of(row, member);
    if (!name)
        return true;
    snprintf(before, sizeof(before), "%s", name);
    without_arguments(anonymizer, before, after, sizeof(after));
    if (strcmp(before, after) == 0)
        return true;
    fleet_thread_name(before, 4, in_texts, sizeof(in_texts));
    return set(row, member, after) && replace_everywhere(anonymizer, row, before, after) &&
           replace_everywhere(anonymizer, row, in_texts, after);
}

static bool change_texts(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    char buffer[TEXT_BYTES];
    bool good = change_name(anonymizer, row, "program") &&
                change_name(anonymizer, row, "culprit_program") &&
                change_name(anonymizer, row, "thread");
    for (size_t i = 0; i < TEXTS; i++)
        if (text_of(row, texts[i]))
            good = set(row, texts[i],
                       fleet_anonymous_text(anonymizer, text_of(row, texts[i]), buffer,
                                            sizeof(buffer))) &&
                   good;
    return good;
}

static bool replace_whole(const struct fleet_anonymizer *anonymizer, json_t *row,
                          const char *member, const char *kind)
{
    char name[NAME_BYTES];
    const char *text = text_of(row, member);
    size_t length = strlen(kind);
    if (!text ||
        (strncmp(text, kind, length) == 0 && text[length] == '-' && strlen(text) == length + 13))
        return true;
    return set(row, member,
               pseudonym(anonymizer->salt, kind, text, strlen(text), name, sizeof(name)));
}

bool fleet_anonymize(const struct fleet_anonymizer *anonymizer, json_t *row)
{
    char signature[24], before[TEXT_BYTES];
    const char *parts = text_of(row, "parts");
    snprintf(before, sizeof(before), "%s", parts ? parts : "");
    bool good = change_texts(anonymizer, row) &&
                replace_whole(anonymizer, row, "machine", "machine") &&
                replace_whole(anonymizer, row, "file", "file");
    json_object_del(row, "program_path");
    json_object_del(row, "culprit_path");
    parts = text_of(row, "parts");
    if (!good || !parts || strcmp(parts, before) == 0)
        return good;
    snprintf(signature, sizeof(signature), "%016" PRIx64, hash64(0, parts, strlen(parts)));
    return set(row, "signature", signature);
}
