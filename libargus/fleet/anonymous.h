/* Rows without what tells about a person: names of users, paths below home folders, names and
 * addresses of hosts, arguments of programs. Each is replaced by a pseudonym, the same everywhere
 * in one database. argus-fleet(1) lists what is kept. */
#ifndef ARGUS_FLEET_ANONYMOUS_H
#define ARGUS_FLEET_ANONYMOUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* What the pseudonyms are made with. */
struct fleet_anonymizer {
    const char *salt; /* fleet_database_salt(); borrowed */
    /* the user and the host that run this program, who are replaced wherever they are named; "":
     * none */
    char user[64], host[256];
};

void fleet_anonymizer_init(struct fleet_anonymizer *anonymizer, const char *salt);

/* Changes `row` (fleet/fleet_row.h). A row that was changed before stays as it is. False without
 * memory. */
bool fleet_anonymize(const struct fleet_anonymizer *anonymizer, json_t *row);

/* The same for one text: `text` without personal parts, into `buffer`, which is returned. */
const char *fleet_anonymous_text(const struct fleet_anonymizer *anonymizer, const char *text,
                                 char *buffer, size_t bytes);

/* The same for a name that a program gave itself, which may contain its arguments, e.g. "sshd:
 * alice [priv]", "sh /home/x": these are replaced as well. At most ANONYMOUS_NAME_BYTES of what is
 * before them are kept. */
enum { ANONYMOUS_NAME_BYTES = 256 };
const char *fleet_anonymous_name(const struct fleet_anonymizer *anonymizer, const char *name,
                                 char *buffer, size_t bytes);

#endif
