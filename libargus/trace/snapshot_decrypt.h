/* Encrypted chunks of snapshots: finds their key, and decrypts them. */
#ifndef ARGUS_TRACE_SNAPSHOT_DECRYPT_H
#define ARGUS_TRACE_SNAPSHOT_DECRYPT_H

#include "trace/reader.h"

/* The payload that the chunk would have if it was not encrypted; the caller frees it. It has
 * VARINT_SLACK zero bytes at its end. Errors as of argus_trace_read_snapshots(). */
struct argus_error *snapshots_decrypt(const struct argus_trace *trace,
                                      const struct argus_chunk *chunk, uint8_t **ret,
                                      size_t *ret_bytes);

#endif
