/* Publishing to one partition: tickets, cells, closing, quarantine, release, reaping, and the reuse of a reaped slot.

   Code: src/partition_log/{publisher,tickets,intents,log_start,reader}.hpp, src/recovery/{recovery,attachment}.hpp. Sequentially
   consistent, each shared access one step. A producer may be killed (its death is proven from then on) or stopped for ever (it
   never is) behind any shared step; interleaving stops and wakes everybody else. Overwrite policy, or -DBLOCK.

   Shown: no store reaches a cell that others read or own; what a reader believes is exactly what was committed, once, in the
   order of its producer; nothing committed is skipped; readers and producers come to their end whoever is killed or stopped
   (an invalid end state else); a cell stays in quarantine only behind a producer that lives. */
#ifndef N
#define N 2 /* cells */
#endif
#ifndef MSGS
#define MSGS 2 /* of the first producer */
#endif
#ifndef MSGS_OF_OTHERS
#define MSGS_OF_OTHERS 1
#endif
#define MSGS_OF(id) ((id) == 0 -> MSGS : MSGS_OF_OTHERS)
#ifndef TICKETS
#define TICKETS 5 /* the log ends here: bounds the tries */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef LATE_COMERS
#define LATE_COMERS 0 /* producers that attach to a reaped slot */
#endif
#define SLOTS 2
#ifdef BATCH
#define BATCH_OF(id) ((id) == 0 -> MSGS - k : 1)
#define SLACK 4
#else
#define BATCH_OF(id) 1
#define SLACK 2
#endif
#define PRODUCERS (SLOTS + LATE_COMERS)
#ifdef NO_READER
#define READERS 0
#else
#define READERS 1
#endif

/* cell_word.hpp */
#define COMMITTED 1
#define QUARANTINED 2
#define RELEASED 3
#define WORD(o, s) ((o) << 2 | (s))
#define OFFSET(w) ((w) >> 2)
#define STATE(w) ((w) & 3)
#define DECIDED(w, o) ((w) != 0 && OFFSET(w) >= (o))
#define IDLE 255
#define TAKING 254
#define BEGINS 8 /* layout::kOwnerBegins */

/* tickets.hpp, Tickets::may_write */
#ifdef BUG_CLAIM_OF_ANY_AGE
#define MAY_WRITE(w, o) ((o) < N -> (w) == 0 : (STATE(w) != QUARANTINED))
#elif defined BUG_CLAIM_OF_QUARANTINED
#define MAY_WRITE(w, o) ((o) < N -> (w) == 0 : ((w) != 0 && OFFSET(w) == (o) - N))
#else
#define MAY_WRITE(w, o) ((o) < N -> (w) == 0 : ((w) == WORD((o) - N, COMMITTED) || (w) == WORD((o) - N, RELEASED)))
#endif

byte log_end, log_start;
byte word[N], low[N], high[N];                     /* a cell, and two halves of a record: they differ when it is torn */
byte owner[SLOTS], ticket[SLOTS], count[SLOTS];    /* layout::ProducerEntry */
byte gate;                                         /* -DBLOCK: the reader's gate, as gates.pml proves it */

/* ghosts */
bool dead[PRODUCERS], stopped[PRODUCERS];
byte deaths, ended;
byte record[TICKETS];                              /* what was committed at the offset */
bool skipped[TICKETS], published[PRODUCERS * 4 + 4];

#define MESSAGE(id, k) ((id) * 4 + (k) + 1)
#define DIE                                                    \
    if                                                         \
    :: deaths < DEATHS -> deaths++; dead[id] = 1; goto out     \
    :: deaths < DEATHS -> deaths++; stopped[id] = 1; goto out  \
    :: true                                                    \
    fi

/* log_start.hpp, pass_previous_lap; block policy: the room check has seen to it */
#ifdef BLOCK
#define PASS(o) assert((o) < N || log_start > (o) - N)
#else
#define PASS(o)                                                        \
    if                                                                 \
    :: (o) >= N && log_start <= (o) - N -> log_start = (o) - N + 1     \
    :: else                                                            \
    fi
#endif
#ifdef BUG_CLOSE_WITHOUT_START
#define PASS_TO_CLOSE(o) skip
#else
#define PASS_TO_CLOSE(o) PASS(o)
#endif

/* intents.hpp, close_passed: `w` is what was seen, and what is there if the exchange was lost */
#define TRY_CLOSE(o, w, if_closed)                                                          \
    if                                                                                      \
    :: word[(o) % N] == w -> assert(!DECIDED(w, o)); word[(o) % N] = WORD(o, QUARANTINED); w = 0; if_closed \
    :: else -> w = word[(o) % N]                                                            \
    fi

/* log_start.hpp, has_room and make_room; advance_start moves to the gate and not beyond (gates.pml) */
#ifdef BLOCK
#define ROOM                                                                              \
    if                                                                                    \
    :: log_end - seen < N - SLACK                                                         \
    :: else ->                                                                            \
       seen = log_start;                                                                  \
       if                                                                                 \
       :: log_end - seen < N - SLACK                                                      \
       :: else ->                                                                         \
          d_step {                                                                        \
              seen = log_end - (N - SLACK) + 1;                                           \
              if :: seen > gate -> seen = gate :: else fi;                                \
              if :: log_start < seen -> log_start = seen :: else -> seen = log_start fi   \
          };                                                                              \
          if :: log_end - seen < N - SLACK :: else -> goto no_room fi                     \
       fi                                                                                 \
    fi
#else
#define ROOM skip
#endif

proctype Producer(byte id) {
    byte slot, k, n, i, o, w, seen;
    if
    :: id < SLOTS -> slot = id
    :: else -> /* attachment.hpp, claim_slot and begin_tenure: waits here only so that there is something to take */
       atomic { (owner[0] == 0 || owner[1] == 0 || ended >= SLOTS) ->
           if
           :: owner[0] == 0 -> slot = 0; owner[0] = id + 1 + BEGINS; DIE
           :: owner[0] != 0 && owner[1] == 0 -> slot = 1; owner[1] = id + 1 + BEGINS; DIE
           :: else -> goto out
           fi };
       atomic { ticket[slot] = IDLE; DIE };
       atomic { owner[slot] = id + 1; DIE }
    fi;
    do
    :: k == MSGS_OF(id) -> break
    :: else ->
#ifdef BUG_ROOM_ASKED_ONCE
       ROOM;
again:
#else
again: /* publisher.hpp, publish_placed and publish_batch: the room is looked at before each ticket */
       ROOM;
#endif
       n = BATCH_OF(id);
       /* tickets.hpp, Tickets::take */
#ifdef BATCH
       atomic { if :: count[slot] != n -> count[slot] = n; DIE :: else fi };
#endif
#ifndef BUG_NO_TAKING
       atomic { ticket[slot] = TAKING; DIE };
#endif
       atomic {
           if
           :: log_end + n > TICKETS -> ticket[slot] = IDLE; goto out
           :: else -> o = log_end; log_end = log_end + n
           fi;
           i = 0; DIE };
#ifdef TSO /* the store of the ticket may still be in the store buffer when the cell's word is loaded */
       if
       :: atomic { w = word[o % N]; DIE }; atomic { ticket[slot] = o; DIE }; goto looked
       :: atomic { ticket[slot] = o; DIE }
       fi;
#else
       atomic { ticket[slot] = o; DIE };
#endif
next:  /* Tickets::claim, claim_from */
       atomic { w = word[o % N]; DIE };
looked:
       do
       :: DECIDED(w, o) ->
#ifdef BUG_RELEASE_OF_ANOTHERS
          atomic { if :: STATE(w) == QUARANTINED && word[o % N] == w -> word[o % N] = WORD(OFFSET(w), RELEASED) :: else fi };
#endif
          goto lost
       :: !DECIDED(w, o) && MAY_WRITE(w, o) -> break
       :: !DECIDED(w, o) && !MAY_WRITE(w, o) ->
#ifdef BUG_PRODUCER_WAITS
          atomic { word[o % N] != w -> w = word[o % N] }
#else
          atomic { PASS_TO_CLOSE(o); DIE };
          atomic { TRY_CLOSE(o, w, DIE; goto lost); DIE }
#endif
       od;
#ifndef BUG_START_BEHIND_THE_STORES
       atomic { PASS(o); DIE };
#endif
       /* Tickets::write_cell */
       atomic { assert(word[o % N] == w || STATE(word[o % N]) == QUARANTINED); low[o % N] = MESSAGE(id, k); DIE };
       atomic { assert(word[o % N] == w || STATE(word[o % N]) == QUARANTINED); high[o % N] = MESSAGE(id, k); DIE };
#ifdef BUG_START_BEHIND_THE_STORES
       atomic { PASS(o); DIE };
#endif
       /* Tickets::commit */
       atomic {
           if
#ifdef BUG_COMMIT_BY_STORE
           :: true ->
#else
           :: word[o % N] == w ->
#endif
              word[o % N] = WORD(o, COMMITTED); w = 0;
              assert(!skipped[o] && record[o] == 0 && !published[MESSAGE(id, k)]);
              record[o] = MESSAGE(id, k); published[MESSAGE(id, k)] = 1;
              k++; i++; o++; DIE;
              if :: i < n -> goto next :: else -> goto done fi
#ifndef BUG_COMMIT_BY_STORE
           :: else -> w = word[o % N]; DIE
#endif
           fi };
       /* Tickets::release_late */
       do
       :: assert(STATE(w) == QUARANTINED);
          atomic {
              if
              :: word[o % N] == w -> word[o % N] = WORD(OFFSET(w), RELEASED); w = 0; DIE; goto lost
              :: else -> w = word[o % N]; DIE
              fi }
       od;
lost:  /* publisher.hpp, commit_run: the first ticket that is lost gives up those behind it (Tickets::give_up) */
       i++; o++; w = 0;
       do
       :: i >= n -> goto again
       :: else ->
          atomic { w = word[o % N]; DIE };
          do
          :: DECIDED(w, o) -> break
#ifdef BUG_GIVES_UP_WHAT_IS_OPEN
          :: !DECIDED(w, o) ->
#else
          :: !DECIDED(w, o) && !MAY_WRITE(w, o) ->
             atomic { PASS_TO_CLOSE(o); DIE };
             atomic { TRY_CLOSE(o, w, DIE; goto given); DIE }
          :: !DECIDED(w, o) && MAY_WRITE(w, o) ->
#endif
             atomic { PASS(o); DIE };
             atomic {
                 if
                 :: word[o % N] == w -> word[o % N] = WORD(o, RELEASED); DIE; goto given
                 :: else -> w = word[o % N]; DIE
                 fi }
          od;
given:    i++; o++; w = 0
       od;
no_room: k = MSGS_OF(id); goto idle;
done:  skip;
idle:  ticket[slot] = IDLE; o = 0; w = 0; i = 0; n = 0
    od;
    atomic { owner[slot] = 0; }; /* attachment.hpp, detach */
out: atomic { ended++; o = 0; w = 0; i = 0; n = 0; k = 0; seen = 0; slot = 0 } }

/* reader.hpp, look and valid; tickets.hpp, close_ticket */
proctype Reading() {
    byte o, w, a, b, last[PRODUCERS];
    do
    :: o >= TICKETS -> break
    :: else ->
       if :: log_end > o :: ended == PRODUCERS && log_end <= o -> break fi;
       w = word[o % N];
       if
       :: w == WORD(o, COMMITTED) ->
          a = low[o % N]; b = high[o % N];
          d_step {
              if
#ifdef BUG_READER_DOES_NOT_VALIDATE
              :: true ->
#else
              :: log_start <= o ->
#endif
                 assert(a == b && a == record[o]);
                 assert(last[(a - 1) / 4] < (a - 1) % 4 + 1);
                 last[(a - 1) / 4] = (a - 1) % 4 + 1; o++
              :: else ->
#ifdef BLOCK
                 assert(false);
#endif
                 o = log_start
              fi }
#ifdef BUG_READER_SKIPS_LATER_WORDS
       :: w != WORD(o, COMMITTED) && DECIDED(w, o) && STATE(w) != COMMITTED ->
#else
       :: w != WORD(o, COMMITTED) && DECIDED(w, o) && OFFSET(w) == o ->
#endif
          d_step { assert(record[o] == 0); skipped[o] = 1; o++ }
#ifdef BUG_READER_SKIPS_LATER_WORDS
       :: DECIDED(w, o) && OFFSET(w) > o && STATE(w) == COMMITTED ->
#else
       :: DECIDED(w, o) && OFFSET(w) > o ->
#endif
          d_step { assert(log_start > o); o = log_start } /* else Found::corrupt */
       :: !DECIDED(w, o) -> /* log_end > o was seen: closes, or waits a moment longer */
          if
#ifndef BUG_READER_WAITS
          :: d_step { PASS_TO_CLOSE(o) };
             atomic { TRY_CLOSE(o, w, skip) }
#endif
          :: word[o % N] != w
          fi
       fi;
       atomic { w = 0; a = 0; b = 0 };
#ifdef BLOCK
       gate = o
#endif
    od;
    atomic { ended++; w = 0; a = 0; b = 0 } }

/* recovery.hpp: release_cell, may_have_late_writer, reap_producer. Any number of keepers would be as one: no step depends on
   another of the same keeper but by what it has read. */
#define LATE(t, c, o) ((t) == TAKING || ((((o) + N - ((t) % N)) % N) < (c)))
#ifdef BUG_KEEPER_IGNORES_TAKING
#define MAY_BE_LATE(t, c, o) ((t) != TAKING && LATE(t, c, o))
#elif defined BUG_KEEPER_IGNORES_COUNT
#define MAY_BE_LATE(t, c, o) LATE(t, 1, o)
#else
#define MAY_BE_LATE(t, c, o) LATE(t, c, o)
#endif
#define IS_DEAD(who) dead[((who) % BEGINS) - 1]
#ifdef BATCH
#define COUNT(s) count[s]
#else
#define COUNT(s) 1
#endif
proctype Keeper() {
    byte c, s, who, t, seen;
    do
    :: ended == PRODUCERS + READERS -> break
    :: if
       :: c = 0
#if N > 1
       :: c = 1
#endif
#if N > 2
       :: c = 2
#endif
#if N > 3
       :: c = 3
#endif
       fi;
       seen = word[c];
       if
       :: STATE(seen) != QUARANTINED
       :: else ->
          s = 0;
          do
          :: s == SLOTS -> break
          :: else ->
#if LATE_COMERS
             who = owner[s];
             t = ticket[s];
#else /* owners do not change: one step for both */
             atomic { who = owner[s]; t = ticket[s] };
#endif
             atomic {
                 if
                 :: who == 0 || who > BEGINS || t == IDLE
                 :: else -> if :: !IS_DEAD(who) && MAY_BE_LATE(t, COUNT(s), OFFSET(seen)) -> goto waits :: else fi
                 fi;
                 who = 0; t = 0; s++ }
          od;
#ifdef BUG_KEEPER_RELEASES_UNJUDGED
          seen = word[c];
#endif
          atomic { if :: word[c] == seen && STATE(seen) == QUARANTINED -> word[c] = WORD(OFFSET(seen), RELEASED) :: else fi }
       fi;
waits: atomic { c = 0; s = 0; who = 0; t = 0; seen = 0 }
#ifndef NO_REAPING
    :: if :: s = 0 :: s = 1 fi;
       who = owner[s];
       atomic {
           if
#ifdef BUG_REAPS_WITHOUT_PROOF
           :: who != 0 && owner[s] == who -> owner[s] = 0 /* as by a time-out */
#else
           :: who != 0 && IS_DEAD(who) && owner[s] == who -> owner[s] = 0
#endif
           :: else
           fi;
           s = 0; who = 0 }
#endif
    od;
    /* everybody else is gone: one pass more, and a quarantined cell is only behind a producer that may still live */
    atomic {
        c = 0;
        do
        :: c == N -> break
        :: else ->
           if
           :: STATE(word[c]) == QUARANTINED ->
              s = 0; t = 0;
              do
              :: s == SLOTS -> break
              :: else ->
                 if
                 :: owner[s] != 0 && owner[s] < BEGINS && ticket[s] != IDLE && !IS_DEAD(owner[s]) &&
                    MAY_BE_LATE(ticket[s], COUNT(s), OFFSET(word[c])) -> t = 1; assert(stopped[owner[s] - 1])
                 :: else
                 fi;
                 s++
              od;
              if :: t == 0 -> word[c] = WORD(OFFSET(word[c]), RELEASED) :: else fi
           :: else
           fi;
           c++
        od } }

init {
    byte i;
    atomic {
        do
        :: i == SLOTS -> break
        :: else -> owner[i] = i + 1; ticket[i] = IDLE; count[i] = 1; i++
        od;
        i = 0;
        do
        :: i == PRODUCERS -> break
        :: else -> run Producer(i); i++
        od;
#ifndef NO_READER
        run Reading();
#endif
#ifndef NO_KEEPER
        run Keeper()
#endif
    }
}
