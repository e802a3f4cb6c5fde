/* SPDX-License-Identifier: Apache-2.0
 *
 * Topics of a stack in Rust for C and C++: a message is a head and a payload. The stack's own header
 * says how a link is opened. What fails says why in `why`, which holds `why_bytes` with the final
 * zero. A link is used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_link takt_link;

/* The head of a message. Times are CLOCK_MONOTONIC in ns. */
typedef struct {
  uint64_t sequence;
  int64_t intended_ns;
  int64_t sent_ns;
  bool last;
} takt_head;

/* Called by threads of the stack, while the link lives. */
typedef struct {
  void (*call)(void* context);
  void* context;
} takt_callback;

void takt_link_close(takt_link* link);

/* A link sends from its writer, if it has one. */
bool takt_link_open_writer(takt_link* link, const char* topic, char* why, size_t why_bytes);
void takt_link_close_writer(takt_link* link);

/* How many other ends are there now: writers for what it takes, readers for what it sends. */
size_t takt_link_writers(takt_link* link);
size_t takt_link_readers(takt_link* link);

/* Sends a message, or the one that was taken last back. False: see takt_link_problem. */
bool takt_link_send(takt_link* link, const takt_head* head);
bool takt_link_reply(takt_link* link);

/* Takes the next message: 1; 0: there is none; -1: it failed. */
int takt_link_take(takt_link* link, takt_head* head);

/* Why something failed the last time that it did; false where nothing has. */
bool takt_link_problem(const takt_link* link, char* why, size_t why_bytes);

#ifdef __cplusplus
}
#endif
