/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of iceoryx2 (see takt_link.h), in shared memory, with an event beside each that wakes the
 * other end.
 */
#pragma once

#include <takt_link.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  const char* topic;    /* of what it takes */
  const char* root;     /* folder of the files that name services; null: iceoryx2's own */
  size_t depth;         /* messages that wait for their taker; the oldest gives way */
  size_t payload_bytes; /* of what it sends */
  size_t ends;          /* on each side at most */
} takt_iceoryx2_settings;

takt_link* takt_iceoryx2_open(const takt_iceoryx2_settings* settings, char* why, size_t why_bytes);

/* Waits until there may be a message, at most so long. False: see takt_link_problem. */
bool takt_iceoryx2_wait(takt_link* link, uint64_t at_most_ns);

#ifdef __cplusplus
}
#endif
