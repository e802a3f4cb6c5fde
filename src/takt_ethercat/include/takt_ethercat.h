/* SPDX-License-Identifier: Apache-2.0
 *
 * An EtherCAT master for C and C++, of ethercrab. It has no thread: who calls it sends, waits and
 * receives. Its outputs stay zero. A process has one master, used by one thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_ethercat_master takt_ethercat_master;

typedef struct {
  const char* interface;
  uint16_t slaves;        /* how many there have to be; 0: any number */
  uint64_t lost_after_ns; /* how long a frame may be under way */
  bool (*stopped)(void* context);
  void* context;
} takt_ethercat_settings;

/* What did not work, why, and what to do. */
typedef struct {
  char what[160];
  char why[400];
  char fix[240];
} takt_ethercat_trouble;

/* Times are CLOCK_MONOTONIC in ns. */
typedef struct {
  int64_t sent_ns;
  int64_t received_ns;      /* 0: it did not come back in time */
  uint16_t working_counter; /* of the process data */
  uint16_t operational;     /* slaves that said that they are in OP */
} takt_ethercat_cycle;

/* Brings all slaves to OP. Null: see `trouble`, which is empty where `stopped` said so. */
takt_ethercat_master* takt_ethercat_open(const takt_ethercat_settings* settings,
                                         takt_ethercat_trouble* trouble);
void takt_ethercat_close(takt_ethercat_master* master);

uint16_t takt_ethercat_slaves(const takt_ethercat_master* master);
/* The working counter of a cycle in which all of them took part. */
uint16_t takt_ethercat_expected(const takt_ethercat_master* master);
/* Frames that came and were no answer to what was under way. */
uint64_t takt_ethercat_strange(const takt_ethercat_master* master);

/* Sends the process data and waits for it: 1 it came back; 0 it was lost; -1 it failed, see
 * `trouble`; -2 it was stopped. */
int takt_ethercat_exchange(takt_ethercat_master* master, takt_ethercat_cycle* cycle,
                           takt_ethercat_trouble* trouble);

#ifdef __cplusplus
}
#endif
