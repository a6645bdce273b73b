/* Moving the start of a log against gates: readers' gates and groups that gate, which begin, go back, are let go and return.

   Code: src/partition_log/log_start.hpp (advance_start), src/gate_table/gate_table.hpp, src/group_table/{group_gates,positions,
   reset,creation,membership}.hpp, src/recovery/recovery.hpp (reap_gates). Sequentially consistent: the fences of the code are what
   makes it so. Everybody may be stopped anywhere, for ever, by interleaving; the first holder of the reader's gate may be killed.

   Shown: from the moment on at which a gate's call has returned, log_start is not above it; a group is let go only when it is
   further behind than it wants to hold; a mover is never held by what an earlier holder left in an entry. */
#ifndef MOVERS
#define MOVERS 2
#endif
#ifndef MOVES
#define MOVES 1 /* of each mover */
#endif
#ifndef STEPS
#define STEPS 2 /* commits, replays, resets of the group; moves of the reader */
#endif
#define END 5     /* log_end */
#define LAG_MAX 3

byte log_start = 1, floor = 1;

/* group_words.hpp, PartitionWord; the group begins at log_start */
byte committed, generation;
bool gates, open_group;
bool group_holds; /* ghost: its call has returned */

/* layout::GateEntry: 0 nobody, BEGINS + who while the word is not its own */
#define BEGINS 8
byte owner, gate; /* gate: offset + 1; 0 none */
byte gate_of;     /* ghost: who wrote it */
bool reader_holds, first_is_dead;

#define GROUP_IS_KEPT (!(group_holds && open_group && gates) || log_start <= committed)
#define READER_IS_KEPT (!(reader_holds && gate != 0) || log_start + 1 <= gate)

#ifdef READER
#define LOOK_AT_READER(lowest)                                             \
    who = owner;                                                           \
    if                                                                     \
    :: who == 0 || who > BEGINS                                            \
    :: else ->                                                             \
       atomic {                                                            \
           assert(gate_of >= who);                                         \
           if :: gate != 0 && gate - 1 < lowest -> lowest = gate - 1 :: else fi } \
    fi;                                                                    \
    who = 0
#else
#define LOOK_AT_READER(lowest) skip
#endif

proctype Mover() {
    byte n, target, to, low, c, g, who;
    bool was;
    do
    :: n == MOVES -> break
    :: else ->
       n++;
       if :: target = 2 :: target = 4 :: target = END fi;
       to = target;
       /* the first look: GateTable::lowest, GroupGates::lowest_after_letting_go */
       LOOK_AT_READER(to);
#ifdef GROUP
again: if
       :: open_group ->
          atomic { c = committed; was = gates; g = generation };
          if
          :: was && c < target && END - c > LAG_MAX ->
             atomic {
                 if
#ifdef BUG_LET_GO_BY_STORE
                 :: true ->
#else
                 :: committed == c && gates == was && generation == g ->
#endif
                    gates = 0; assert(END - committed > LAG_MAX)
                 :: else -> goto again
                 fi }
          :: was && !(c < target && END - c > LAG_MAX) && c < to -> to = c
          :: else
          fi
       :: else
       fi;
#endif
#ifdef BUG_LOOKS_BEFORE_ANNOUNCING
       low = to;
       LOOK_AT_READER(low);
       atomic { if :: open_group && gates && committed < low -> low = committed :: else fi };
#endif
#ifndef BUG_NO_FLOOR
       atomic { if :: floor < to -> floor = to :: else fi };
#endif
#ifndef BUG_LOOKS_BEFORE_ANNOUNCING
       low = to;
#ifndef BUG_NO_SECOND_LOOK
       LOOK_AT_READER(low); /* the second look: GateTable::lowest, GroupGates::lowest */
#ifdef GROUP
       if
       :: open_group -> atomic { if :: gates && committed < low -> low = committed :: else fi }
       :: else
       fi;
#endif
#endif
#endif
       atomic {
           if
           :: low >= to && log_start < to -> log_start = to; assert(GROUP_IS_KEPT && READER_IS_KEPT)
           :: else
           fi;
           target = 0; to = 0; low = 0; c = 0; was = 0; g = 0 }
    od }

#ifdef BUG_STARTS_FROM_LOG_START
#define FLOOR log_start
#else
#define FLOOR floor
#endif

/* group_gates.hpp, regate. RAISE: BelowFloor::raise, else let_go. Ends at the label with the group holding, or not. */
#define SEEN (committed == c && gates == was && generation == g)
#define REGATE(raise, here, ready)                                                        \
    atomic { c = committed; was = gates; g = generation };                                \
here: if                                                                                  \
    :: !was -> goto ready                                                                 \
    :: else                                                                               \
    fi;                                                                                   \
    f = FLOOR;                                                                            \
    atomic {                                                                              \
        if                                                                                \
        :: f <= c -> group_holds = (generation == g); assert(GROUP_IS_KEPT); goto ready   \
        :: else                                                                           \
        fi };                                                                             \
    atomic {                                                                              \
        if                                                                                \
        :: SEEN && raise -> committed = f; c = f                                          \
        :: SEEN && !raise -> gates = 0; was = 0                                           \
        :: else -> c = committed; was = gates; g = generation                             \
        fi };                                                                             \
    goto here

/* One process does what creators, members and operators do to the word; movers are the others who change it. */
proctype Group() {
    byte n, c, g, f, x;
    bool was;
    /* creation.hpp: fill, at the earliest; then the group can be seen */
    x = log_start;
    atomic { committed = x; gates = 1; generation = 1 };
    open_group = 1;
#ifdef BUG_CREATED_WITHOUT_LOOK
    atomic { group_holds = 1; assert(GROUP_IS_KEPT) };
#else
    REGATE(true, look0, ready); /* membership.hpp, show_gates */
#endif
ready:
    atomic { c = 0; was = 0; g = 0; f = 0; x = 0 };
    do
    :: n == STEPS -> break
    :: else ->
       n++;
       if
       :: /* positions.hpp, apply_one */
          atomic { c = committed; was = gates; g = generation };
          if :: c + 1 <= END -> x = c + 1 :: c + 2 <= END -> x = c + 2 :: x = c fi;
          do
          :: atomic { if :: SEEN -> committed = x; break :: else -> c = committed; was = gates; g = generation fi }
          od;
          if
          :: was -> goto ready
          :: else
          fi;
          /* return_to_gates */
          atomic { c = committed; was = gates };
          f = FLOOR;
          if :: f > c || was -> goto ready :: else fi;
          atomic { if :: SEEN -> gates = 1; group_holds = 0 :: else -> goto ready fi };
#ifdef BUG_RETURNS_WITHOUT_LOOK
          atomic { group_holds = 1; assert(GROUP_IS_KEPT); goto ready };
#else
          REGATE(false, look1, ready);
#endif
       :: /* reset.hpp, GroupReset::set; positions.hpp, Positions::replay */
          if :: x = log_start :: x = floor :: x = 1 :: x = END fi;
          atomic { committed = x; gates = 1; generation++; group_holds = 0 };
#ifdef BUG_RESET_WITHOUT_LOOK
          atomic { group_holds = 1; assert(GROUP_IS_KEPT); goto ready };
#else
          REGATE(true, look2, ready);
#endif
       :: /* sweeping.hpp, delete_group */
          atomic { open_group = 0; group_holds = 0; break }
       fi
    od }

/* gate_table.hpp: claim, hold, move, drop */
proctype Reading(byte me) {
    byte n, x, f;
    atomic { owner == 0 && (me == 1 || gate_of == 1) -> owner = me + BEGINS };
#ifdef BUG_BEGINS_AT_THE_CLAIM
    owner = me;
#endif
    if :: x = log_start :: x = 1 fi;
    do
    ::
#ifdef BUG_FLOOR_BEFORE_THE_GATE
       f = floor;
#endif
       atomic { gate = x + 1; gate_of = me };
       atomic { if :: owner == me + BEGINS -> owner = me :: else fi };
#ifdef BUG_HOLDS_WITHOUT_LOOK
       f = x;
#elif !defined BUG_FLOOR_BEFORE_THE_GATE
       f = FLOOR;
#endif
       if :: f <= x -> break :: else -> x = f fi
    od;
    atomic { reader_holds = 1; assert(READER_IS_KEPT) };
    do
    :: n == STEPS -> break
    :: n < STEPS && x < END -> n++; x++; gate = x + 1
    :: me == 1 -> atomic { reader_holds = 0; first_is_dead = 1; goto out } /* killed */
    :: break
    od;
    atomic { reader_holds = 0; gate = 0 };
    owner = 0;
out: skip }

/* recovery.hpp, reap_gates: the one change, after the proof */
proctype Reaper() {
    byte who;
    if
    :: first_is_dead -> who = owner; atomic { if :: who % BEGINS == 1 && owner == who -> owner = 0 :: else fi; who = 0 }
    :: owner == 0 && gate_of != 0 -> skip
    :: timeout -> skip
    fi }

init {
    byte i;
    atomic {
        do
        :: i == MOVERS -> break
        :: else -> run Mover(); i++
        od;
        i = 0;
#ifdef GROUP
        run Group();
#endif
#ifdef READER
        run Reading(1);
#ifdef SECOND_HOLDER
        run Reading(2);
#endif
        run Reaper()
#endif
    } }
