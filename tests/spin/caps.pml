/* The cap on what all workers of a queue hold together, without a lock: announce, sum the others, give back what does not fit.

   Code: src/work_table/workers.hpp (announce, settle, extend). Sequentially consistent. A worker may be stopped for
   ever or killed behind each step. Time runs when it likes: it ends a worker's last deadline, and by the same stroke every lock
   of the worker; a lock made behind it is none.

   Shown: never more locks in force than the cap; a share of one that is gone is counted no longer than its last deadline, so
   that who comes alone at the end may have the whole cap. */
#ifndef WORKERS
#define WORKERS 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef DEADLINES
#define DEADLINES 1
#endif
#define CAP 2

byte held[WORKERS], locked[WORKERS]; /* what is counted; what is in force */
bool over[WORKERS] = 1;              /* the last deadline has passed, or there was none */
byte deadlines, ended;
#define IN_FORCE (locked[0] + locked[1] + (WORKERS > 2 -> locked[WORKERS - 1] : 0))
#define COUNTED(i) (over[i] -> 0 : held[i])

proctype Worker(byte me) {
    byte wanted, fits, before, all, i, n;
    do
    :: n == ROUNDS -> break
    :: else ->
       n++;
       if :: wanted = 1 :: wanted = 2 fi;
       /* extend: from here on no lock lasts longer than the last deadline */
#ifndef BUG_DEADLINE_BEHIND_THE_LOCK
       over[me] = 0;
#endif
#ifdef BUG_SUMS_BEFORE_ANNOUNCING
       before = held[me];
#else
       atomic { before = held[me]; held[me] = held[me] + wanted };
#endif
       do
       :: i == WORKERS -> break
       :: i == me -> i++
       :: i < WORKERS && i != me ->
#ifdef BUG_SHARES_NEVER_END
          all = all + held[i];
#else
          all = all + COUNTED(i);
#endif
          i++
       od;
       atomic { all = all + before; fits = (all >= CAP -> 0 : (CAP - all < wanted -> CAP - all : wanted)) };
#ifdef BUG_TAKES_ALL_IF_SOME_FIT
       if :: fits != 0 -> fits = wanted :: else fi;
#endif
#ifdef BUG_SUMS_BEFORE_ANNOUNCING
       held[me] = held[me] + fits;
#else
       if :: fits < wanted -> held[me] = held[me] - (wanted - fits) :: else fi;
#endif
       /* the words; a lock whose time is over is none */
#ifdef BUG_DEADLINE_BEHIND_THE_LOCK
       atomic { locked[me] = locked[me] + fits; assert(IN_FORCE <= CAP) };
       over[me] = 0;
#else
       atomic { if :: !over[me] -> locked[me] = locked[me] + fits; assert(IN_FORCE <= CAP) :: else fi };
#endif
       atomic { fits = 0; wanted = 0; all = 0; i = 0; before = 0 };
       if
       :: true -> /* answers: first the words, then the share */
#ifdef BUG_SETTLES_BEFORE_THE_WORDS
          held[me] = 0;
          locked[me] = 0
#else
          locked[me] = 0;
          held[me] = 0
#endif
       :: true -> skip  /* keeps them */
       :: true -> break /* killed or stopped */
       fi
    od;
    atomic { n = 0; ended++ } }

proctype Time() {
    byte i;
    do
    :: deadlines == DEADLINES -> break
    :: break
    :: deadlines < DEADLINES ->
       deadlines++;
       if :: i = 0 :: i = 1 :: i = WORKERS - 1 fi;
       atomic { over[i] = 1; locked[i] = 0 } /* everybody may take what it had */
    od }

init {
    byte i, all;
    atomic {
        do
        :: i == WORKERS -> break
        :: else -> run Worker(i); i++
        od;
        run Time()
    };
    ended == WORKERS;
    /* all deadlines pass: nothing is counted any more of those who are gone */
    atomic {
        i = 0; all = 0;
        do
        :: i == WORKERS -> break
        :: else ->
           over[i] = 1; locked[i] = 0;
#ifdef BUG_SHARES_NEVER_END
           all = all + held[i];
#else
           all = all + COUNTED(i);
#endif
           i++
        od;
        assert(all == 0) } }
