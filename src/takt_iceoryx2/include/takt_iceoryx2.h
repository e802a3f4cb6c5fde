/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of iceoryx2 for C and C++: a message is a head and a payload in shared memory, with an event
 * beside it that wakes the other end. What is null on failure says why in `why`, which holds
 * `why_bytes` with the final zero. A link is used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_iceoryx2_link takt_iceoryx2_link;

/* The head of a message. Times are CLOCK_MONOTONIC in ns. */
typedef struct {
  uint64_t sequence;
  int64_t intended_ns;
  int64_t sent_ns;
  bool last;
} takt_iceoryx2_head;

typedef struct {
  const char* topic;    /* of what it takes */
  const char* root;     /* folder of the files that name services; null: iceoryx2's own */
  size_t depth;         /* messages that wait for their taker; the oldest gives way */
  size_t payload_bytes; /* of what it sends */
  size_t ends;          /* on each side at most */
} takt_iceoryx2_settings;

takt_iceoryx2_link* takt_iceoryx2_open(const takt_iceoryx2_settings* settings, char* why,
                                       size_t why_bytes);
void takt_iceoryx2_close(takt_iceoryx2_link* link);

/* A link sends from its writer, if it has one. */
bool takt_iceoryx2_open_writer(takt_iceoryx2_link* link, const char* topic, char* why,
                               size_t why_bytes);
void takt_iceoryx2_close_writer(takt_iceoryx2_link* link);

/* How many other ends are there now: writers for what it takes, readers for what it sends. */
size_t takt_iceoryx2_writers(const takt_iceoryx2_link* link);
size_t takt_iceoryx2_readers(const takt_iceoryx2_link* link);

/* Sends a message, or the one that was taken last back. False: see takt_iceoryx2_problem. */
bool takt_iceoryx2_send(takt_iceoryx2_link* link, const takt_iceoryx2_head* head);
bool takt_iceoryx2_reply(takt_iceoryx2_link* link);

/* Takes the next message: 1; 0: there is none; -1: it failed. */
int takt_iceoryx2_take(takt_iceoryx2_link* link, takt_iceoryx2_head* head);

/* Waits until there may be a message, at most so long. False: it failed. */
bool takt_iceoryx2_wait(takt_iceoryx2_link* link, uint64_t at_most_ns);

/* Why the last call failed; false where none did. */
bool takt_iceoryx2_problem(const takt_iceoryx2_link* link, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
