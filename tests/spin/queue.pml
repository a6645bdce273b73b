/* A work queue on one partition: one word per offset of a ring window, changed only from exactly what was read.

   Code: src/work_table/{acquiring,taking,settling,letters,advance,reaping,retiring,work_words}.hpp. Sequentially consistent. Any
   lock may run out at any moment, so nothing is assumed of clocks; a worker may be killed or stopped for ever behind each shared
   step, and be stopped and woken by interleaving. Handlers ack, nack, release or reject; the dead-letter log may be full; one
   offset holds no record. -DLOSS: retention passes records. -DRESET: an operator moves the group and retires the words.

   Shown: each record ends once, as one of acked, dead, skipped or lost; a dead one has exactly one letter; no answer reaches a
   record whose lock is another's; nothing is written into the word of a later lap; when all workers are gone, killed ones with
   locks included, one worker that comes alone finishes everything. After a reset no letter is written about an old word. */
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef WINDOW
#define WINDOW 2
#endif
#ifndef RECORDS
#define RECORDS 3
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef TICKETS
#define TICKETS 3 /* of the dead-letter log, then it is full */
#endif
#ifndef LAPS
#define LAPS 2 /* so few laps can be told apart; 4096 in the code */
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef HOLE
#define HOLE 1 /* this offset holds no record */
#endif
#ifndef LOSS
#define LOSS 0 /* retention goes so far */
#endif

/* work_words.hpp: state, lap, count, and slot or ticket. Tag and deadline are left out: words are more alike than in the code */
#define READY 1
#define LOCKED 2
#define PREPARING 3
#define INTENT 4
#define DONE 5
#define CONDEMNED 6
#define STATE(w) ((w) & 7)
#define LAP(o) (((o) / WINDOW) % LAPS)
#define LAP_OF(w) ((w) >> 3 & 1)
#define COUNT(w) ((w) >> 4 & 3)
#define SLOT(w) ((w) >> 6 & 3)
#define TICKET(w) ((w) >> 6)
#define MADE(state, o, n, x) ((state) | LAP(o) << 3 | (n) << 4 | (x) << 6)
#ifdef BUG_DONE_BY_LAP
#define DONE_WORD(o) (DONE | LAP(o) << 3)
#else
#define DONE_WORD(o) (DONE | (o) << 3)
#endif
#define IS_FREE(w, o) ((w) == 0 || STATE(w) == DONE || LAP_OF(w) != LAP(o)) /* requires that it is not DONE of o */

short word[WINDOW];
byte log_start, start, frontier, letters_end;
byte letter_cell[TICKETS + RECORDS + 1]; /* of the dead-letter log: 0 open, offset + 1 committed, CLOSED */
#define CLOSED 255
bool moved;   /* the group was reset: WorkMemory::current says no */
bool retired; /* and the words were taken from their holders */

/* ghosts */
byte deaths, ended;
byte of_word[WINDOW];   /* which record the word is about */
byte holder[RECORDS];   /* slot + 1 of whose lock is the record's */
bool acked[RECORDS], dead[RECORDS], skipped[RECORDS], lost[RECORDS];
byte letters[RECORDS];
#define ENDED(o) (acked[o] || dead[o] || skipped[o] || lost[o])

#define DIE if :: deaths < DEATHS -> deaths++; goto out :: true fi
#define AT(o) word[(o) % WINDOW]
#define CHANGE(o, from, to, then, otherwise) \
    atomic { if :: AT(o) == (from) -> AT(o) = (to); then; DIE :: else -> otherwise fi }
#define END_AS(how, o) assert(of_word[(o) % WINDOW] == (o) && !ENDED(o)); how[o] = 1; holder[o] = 0

#ifdef RESET
#define CURRENT (!moved)
#else
#define CURRENT true
#endif

proctype Worker(byte me) {
    short seen, mine;
    byte o, s, f, t;
idle:
    atomic { seen = 0; mine = 0; o = 0; s = 0; f = 0; t = 0 };
    if
    :: goto out /* leaves */
    :: CURRENT && start < RECORDS && frontier < RECORDS -> /* acquiring.hpp, claim */
       atomic { f = frontier; DIE };
       atomic { s = start; DIE };
       if
       :: f < s -> atomic { if :: frontier == f -> frontier = s :: else fi; DIE }; goto idle
#ifdef BUG_CLAIMS_BEYOND_THE_WINDOW
       :: f >= s && f < RECORDS ->
#else
       :: f >= s && f < RECORDS && f < s + WINDOW ->
#endif
          atomic { if :: frontier == f -> frontier = f + 1; o = f; f = 0; s = 0; DIE :: else -> goto idle fi };
          goto fresh
       :: else -> goto idle
       fi
    :: CURRENT && start < RECORDS && frontier > start -> /* acquiring.hpp, sweep: any offset in the window */
       atomic { o = start; DIE };
       f = frontier;
       if :: f <= o -> goto idle :: else fi;
       do :: o + 1 < f && o + 1 < start + WINDOW -> o++ :: break od;
       f = 0;
       goto take
    :: CURRENT && start < RECORDS -> /* advance.hpp, advance and jump */
       atomic { s = start; DIE };
       atomic { seen = AT(s); DIE };
       if
       :: seen != DONE_WORD(s) -> goto idle
       :: else
       fi;
#if LOSS
       if
#ifdef BUG_JUMPS_OVER_THE_UNFINISHED
       :: log_start > s ->
          f = log_start;
          t = s;
#else
       :: log_start > s + WINDOW ->
          f = log_start;
          t = s + 1;
          do
          :: t == s + WINDOW -> break
          :: else -> if :: AT(t) == DONE_WORD(t) -> t++ :: else -> goto pass fi; DIE
          od;
#endif
          atomic {
              if
              :: start == s && CURRENT ->
                 start = f;
                 do /* whoever moved it counts them; none had a word */
                 :: t == f -> break
                 :: else -> assert(!ENDED(t)); lost[t] = 1; t++
                 od;
                 DIE
              :: else
              fi };
          goto idle
       :: else
       fi;
pass:
#endif
#ifdef BUG_ADVANCES_BY_STORE
       atomic { start = s + 1; DIE };
#else
       atomic { if :: start == s && CURRENT -> assert(ENDED(s)); start = s + 1; DIE :: else fi };
#endif
       goto idle
    fi;

fresh: /* taking.hpp, take_fresh */
    atomic { seen = AT(o); DIE };
    atomic {
        if
        :: start > o || !(seen == 0 || STATE(seen) == DONE) || seen == DONE_WORD(o) || o == HOLE -> goto take
        :: else
        fi;
        DIE };
    mine = MADE(LOCKED, o, 1, me);
    atomic {
        if
        :: AT(o) == seen ->
           assert(seen == 0 || ENDED(of_word[o % WINDOW]));
           f = of_word[o % WINDOW]; AT(o) = mine; of_word[o % WINDOW] = o; holder[o] = me + 1; DIE
        :: else -> goto take
        fi };
    atomic { if :: start <= o -> t = (log_start > o) :: else -> t = 1 fi; DIE };
    if
    :: t == 0 -> goto handle
    :: else -> atomic { if :: AT(o) == mine -> AT(o) = seen; of_word[o % WINDOW] = f; holder[o] = 0; DIE :: else fi }; t = 0; f = 0; goto take
    fi;

take: /* taking.hpp, take and next */
    atomic { t = 0; f = 0; seen = AT(o); DIE };
#ifndef BUG_START_NOT_ASKED_BEFORE
    atomic { if :: start > o -> goto idle :: else fi; DIE };
#endif
    if
    :: seen == DONE_WORD(o) -> goto idle
    :: seen != DONE_WORD(o) && IS_FREE(seen, o) ->
#ifdef BUG_SWEEP_IGNORES_FREE_WORDS
       if :: frontier > o + 1 -> goto idle :: else fi;
#endif
       if
       :: o == HOLE ->
          CHANGE(o, seen, DONE_WORD(o), of_word[o % WINDOW] = o; END_AS(skipped, o), skip);
          goto idle
       :: o != HOLE -> mine = MADE(LOCKED, o, 1, me)
       fi
    :: seen != DONE_WORD(o) && !IS_FREE(seen, o) && STATE(seen) == INTENT -> t = TICKET(seen); goto finish
    :: seen != DONE_WORD(o) && !IS_FREE(seen, o) && STATE(seen) != INTENT ->
       if
       :: STATE(seen) == PREPARING || STATE(seen) == CONDEMNED -> mine = MADE(PREPARING, o, COUNT(seen), me)
       :: (STATE(seen) == READY || STATE(seen) == LOCKED) && (COUNT(seen) < LIMIT || log_start > o) ->
          mine = MADE(LOCKED, o, (COUNT(seen) < LIMIT -> COUNT(seen) + 1 : LIMIT), me)
       :: (STATE(seen) == READY || STATE(seen) == LOCKED) && COUNT(seen) >= LIMIT && log_start <= o ->
#ifdef BUG_LIMIT_WITHOUT_LETTER
          CHANGE(o, seen, DONE_WORD(o), holder[o] = 0, skip);
          goto idle
#else
          mine = MADE(PREPARING, o, COUNT(seen), me)
#endif
       fi
    fi;
    atomic {
        if
        :: AT(o) == seen ->
           AT(o) = mine;
           if :: seen == 0 || IS_FREE(seen, o) -> assert(seen == 0 || ENDED(of_word[o % WINDOW])); of_word[o % WINDOW] = o :: else fi;
           holder[of_word[o % WINDOW]] = me + 1; DIE
        :: else -> goto idle /* the code looks again at once */
        fi };
#ifndef BUG_START_NOT_ASKED_BEHIND
    atomic { t = (start > o); DIE };
    if
    :: t -> /* it was an equal word of a later lap: back as it was */
       atomic {
           if
           :: AT(o) == mine ->
              AT(o) = seen; holder[of_word[o % WINDOW]] = (STATE(seen) == LOCKED || STATE(seen) == PREPARING -> SLOT(seen) + 1 : 0); DIE
           :: else
           fi };
       goto idle
    :: else
    fi;
#endif
#if LOSS
    atomic { t = (log_start > o); DIE };
    if :: t -> t = 0; CHANGE(o, mine, DONE_WORD(o), END_AS(lost, o), skip); goto idle :: else fi;
#endif
    if :: STATE(mine) == PREPARING -> goto letter :: else fi;

handle: /* settling.hpp: the handler has run */
    t = 0; f = 0;
    if
    :: true -> /* ack */
#ifdef BUG_ACK_OF_ANY_LOCK
       atomic { if :: STATE(AT(o)) == LOCKED && LAP_OF(AT(o)) == LAP(o) ->
#else
       atomic { if :: AT(o) == mine ->
#endif
           assert(holder[o] == me + 1); AT(o) = DONE_WORD(o); END_AS(acked, o); DIE :: else fi };
       goto idle
    :: COUNT(mine) < LIMIT -> /* nack; at the limit as reject */
       CHANGE(o, mine, MADE(READY, o, COUNT(mine), 0), assert(of_word[o % WINDOW] == o); holder[o] = 0, skip);
       goto idle
    :: true -> /* release */
       CHANGE(o, mine, MADE(READY, o, COUNT(mine) - 1, 0), assert(of_word[o % WINDOW] == o); holder[o] = 0, skip);
       goto idle
    :: true -> /* reject */
       CHANGE(o, mine, MADE(PREPARING, o, COUNT(mine), me), assert(of_word[o % WINDOW] == o), goto idle);
       mine = MADE(PREPARING, o, COUNT(mine), me);
       goto letter
    fi;

letter: /* letters.hpp, send */
#ifdef BUG_LETTER_WITHOUT_INTENT
    atomic {
        if
        :: letters_end < TICKETS -> t = letters_end; letters_end++; letter_cell[t] = o + 1; letters[o]++; assert(letters[o] == 1); DIE
        :: else -> goto idle
        fi };
    CHANGE(o, mine, DONE_WORD(o), END_AS(dead, o), skip);
    goto idle;
#endif
#ifndef BUG_RESET_NOT_ASKED
    atomic { if :: CURRENT :: else -> goto idle fi; DIE };
#endif
    atomic {
        if
        :: letters_end < TICKETS -> t = letters_end; letters_end++; DIE
        :: else -> goto keep
        fi };
    CHANGE(o, mine, MADE(INTENT, o, 0, t), holder[o] = 0, goto give_up);
commit: /* commit_at */
    atomic {
        if
        :: letter_cell[t] == 0 ->
           letter_cell[t] = o + 1; letters[o]++; assert(letters[o] == 1 && !retired); DIE
        :: else ->
#ifdef BUG_LETTER_AGAIN
           if :: letters_end < TICKETS -> t = letters_end; letters_end++; goto commit :: else -> goto idle fi
#else
           goto idle /* closed: whoever closed it goes on */
#endif
        fi };
    CHANGE(o, MADE(INTENT, o, 0, t), DONE_WORD(o), assert(letters[o] == 1); END_AS(dead, o), skip);
    goto idle;
give_up:
    atomic { if :: letter_cell[t] == 0 -> letter_cell[t] = CLOSED :: else fi; DIE };
    goto idle;
keep: /* the log is full: the record stays, condemned */
    CHANGE(o, mine, MADE(CONDEMNED, o, COUNT(mine), 0), holder[o] = 0, skip);
    goto idle;
finish: /* letters.hpp, finish: anybody, at any time, who saw the intent */
#ifndef BUG_FINISHES_WITHOUT_CLOSING
    atomic { if :: letter_cell[t] == 0 -> letter_cell[t] = CLOSED :: else fi; DIE };
#endif
    if
    :: letter_cell[t] == CLOSED || letter_cell[t] == 0 ->
       mine = MADE(PREPARING, o, COUNT(seen), me);
       CHANGE(o, seen, mine, holder[of_word[o % WINDOW]] = me + 1; seen = 0; t = 0, goto idle);
       goto letter
    :: else ->
       CHANGE(o, seen, DONE_WORD(o), assert(letters[o] == 1); END_AS(dead, o), skip);
       goto idle
    fi;
out:
    atomic { seen = 0; mine = 0; o = 0; s = 0; f = 0; t = 0; ended++ } }

#if LOSS
proctype Retention() {
    do
    :: log_start < LOSS -> log_start++
    :: break
    od }
#endif

#ifdef RESET
/* retiring.hpp, retire, behind the move of the table's word */
proctype Operator() {
    byte i;
    short seen;
    moved = 1;
    do
    :: i == WINDOW -> break
    :: else ->
       seen = word[i];
       if
       :: seen == 0 || STATE(seen) == DONE -> i++
       :: else ->
#ifndef BUG_RETIRES_WITHOUT_CLOSING
          if
          :: STATE(seen) == INTENT ->
             atomic { if :: letter_cell[TICKET(seen)] == 0 -> letter_cell[TICKET(seen)] = CLOSED :: else fi }
          :: else
          fi;
#endif
          atomic { if :: word[i] == seen -> word[i] = 0; i++ :: else fi; seen = 0 }
       fi
    od;
    retired = 1 }
#else
/* Who comes when the others are gone finishes everything, in a bounded number of steps. */
proctype Last() {
    byte o, k, t;
    short seen;
    ended == WORKERS;
    atomic {
        do
        :: k == RECORDS + 1 -> break
        :: else ->
           k++;
           do
           :: start < RECORDS && AT(start) == DONE_WORD(start) -> assert(ENDED(start)); start++
           :: else -> break
           od;
           if :: start >= RECORDS -> break :: else fi;
           if :: frontier <= start -> frontier = start + 1 :: else fi;
           o = start; seen = AT(o);
           if
           :: IS_FREE(seen, o) ->
#ifdef BUG_SWEEP_IGNORES_FREE_WORDS
              if :: frontier > o + 1 -> assert(false) :: else fi;
#endif
              AT(o) = DONE_WORD(o); acked[o] = 1
           :: !IS_FREE(seen, o) && STATE(seen) != INTENT ->
              assert(of_word[o % WINDOW] == o && letters[o] == 0 && !ENDED(o));
              AT(o) = DONE_WORD(o); acked[o] = 1
           :: !IS_FREE(seen, o) && STATE(seen) == INTENT ->
              assert(of_word[o % WINDOW] == o && !ENDED(o));
              t = TICKET(seen);
              if :: letter_cell[t] == 0 -> letter_cell[t] = CLOSED :: else fi;
              if :: letter_cell[t] == CLOSED -> assert(letters[o] == 0); letters[o]++ :: else -> assert(letters[o] == 1) fi;
              AT(o) = DONE_WORD(o); dead[o] = 1
           fi
        od;
        assert(start == RECORDS);
        o = 0;
        do
        :: o == RECORDS -> break
        :: else ->
           assert(letters[o] == (dead[o] -> 1 : 0) && acked[o] + dead[o] + skipped[o] + lost[o] == 1);
           o++
        od } }
#endif

init {
    byte i;
    atomic {
#if LOSS
        run Retention();
#endif
        do
        :: i == WORKERS -> break
        :: else -> run Worker(i); i++
        od;
#ifdef RESET
        run Operator()
#else
        run Last()
#endif
    } }
