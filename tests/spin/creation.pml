/* Groups by name: found, or created by whoever wants one first; deleted, swept, and the slot used again.

   Code: src/group_table/{creation,sweeping}.hpp. Sequentially consistent, each shared access one step. Everybody wants the same
   name. A creator may be killed behind each shared step (its death is proven from then on) and stopped anywhere by interleaving.

   Shown: never two groups of the name; a group is opened only when its words are filled for exactly that claim; a sweeper never
   empties words of a later group; a claim that is left over is a dead client's, so its slot comes back. */
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CLIENTS
#define CLIENTS 2
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef DELETIONS
#define DELETIONS 1
#endif
#define FREE 0
#define CLAIMED 1
#define OPEN 2
#define CLOSED 3

byte state[SLOTS], epoch[SLOTS], claimer[SLOTS];       /* SetWord; claimer is its other half while CLAIMED */
byte word[SLOTS];                                      /* of one partition: the claim that filled it, 0 empty */
byte dir_slot, dir_epoch, dir_sequence;                /* DirWord; slot + 1 */

/* ghosts */
bool dead[CLIENTS];
byte deaths, deletions;
#define ONE_GROUP ((state[0] == OPEN) + (state[SLOTS - 1] == OPEN) <= (SLOTS > 1 -> 1 : 2))

#define DIE if :: deaths < DEATHS -> deaths++; dead[me] = 1; goto out :: true fi

/* help and finish */
#define HELP                                                                                     \
    atomic { d = dir_slot; dq = dir_sequence; de = dir_epoch };                                  \
    if                                                                                           \
    :: d == 0                                                                                    \
    :: d != 0 ->                                                                                 \
       atomic { s = state[d - 1]; e = epoch[d - 1] };                                            \
       if                                                                                        \
       :: s == CLAIMED && FINISHES ->                                                            \
          atomic {                                                                               \
              if                                                                                 \
              :: state[d - 1] == CLAIMED && epoch[d - 1] == e ->                                 \
                 assert(word[d - 1] == e);                                                       \
                 state[d - 1] = OPEN; epoch[d - 1]++; claimer[d - 1] = 0; assert(ONE_GROUP)      \
              :: else                                                                            \
              fi;                                                                                \
              DIE }                                                                              \
       :: else                                                                                   \
       fi;                                                                                       \
       atomic { if :: dir_slot == d && dir_sequence == dq -> dir_slot = 0; dir_epoch = 0; dir_sequence++ :: else fi; DIE } \
    fi;                                                                                          \
    atomic { d = 0; de = 0; s = 0; e = 0; dq = 0 }
#ifdef BUG_OPENS_ANY_CLAIM
#define FINISHES true
#elif defined BUG_OPENS_WITHOUT_CLAIM_EPOCH
#define FINISHES (dir_slot == d && dir_sequence == dq)
#else
#define FINISHES (e == de)
#endif

/* sweeping.hpp, sweep */
#ifdef BUG_SWEEPS_WITHOUT_LOOKING_AGAIN
#define STILL_CLOSED true
#else
#define STILL_CLOSED (state[k] == CLOSED && epoch[k] == e)
#endif
#define SWEEP                                                                                    \
    atomic { s = state[k]; e = epoch[k] };                                                       \
    if                                                                                           \
    :: s == CLOSED ->                                                                            \
       w = word[k];                                                                              \
       if                                                                                        \
       :: STILL_CLOSED ->                                                                        \
          atomic { if :: word[k] == w && w != 0 -> assert(state[k] != OPEN); word[k] = 0 :: else fi; DIE }; \
          atomic { if :: state[k] == CLOSED && epoch[k] == e -> assert(word[k] == 0); state[k] = FREE; epoch[k]++ :: else fi; DIE } \
       :: else                                                                                   \
       fi                                                                                        \
    :: else                                                                                      \
    fi;                                                                                          \
    atomic { e = 0; s = 0; w = 0 }

proctype Client(byte me) {
    byte d, de, dq, q, s, e, w, k, mine, claim, was;
    bool claimed;
again: /* find_or_create */
    HELP;
    q = dir_sequence; /* the directory before the look */
    if :: dir_slot != 0 -> q = 0; goto again :: else fi;
    k = 0;
    do /* look */
    :: k == SLOTS -> break
    :: k < SLOTS && state[k] == OPEN -> goto found
    :: k < SLOTS && state[k] != OPEN -> k++
    od;
    k = 0;
    if
    :: !claimed -> /* claim, make_free, take */
       do
       :: k == SLOTS -> goto out /* FindStatus::limit */
       :: else ->
          SWEEP;
          atomic { s = state[k]; e = epoch[k]; w = claimer[k] };
          if
#ifdef BUG_FREES_WITHOUT_PROOF
          :: s == CLAIMED && w != 0 ->
#else
          :: s == CLAIMED && w != 0 && dead[w - 1] ->
#endif
             atomic { was = e; s = 0; e = 0; w = 0 };
             HELP; /* behind the proof: if its claim was decided, it is open now */
             atomic { if :: state[k] == CLAIMED && epoch[k] == was -> state[k] = FREE; epoch[k]++; claimer[k] = 0 :: else fi; was = 0; DIE }
          :: s == FREE ->
             atomic {
                 if
                 :: state[k] == FREE && epoch[k] == e ->
                    state[k] = CLAIMED; epoch[k]++; claimer[k] = me + 1;
                    claim = epoch[k]; claimed = 1; mine = k; s = 0; e = 0; w = 0; DIE; break
                 :: else
                 fi }
          :: else -> k++
          fi;
          atomic { s = 0; e = 0; w = 0 }
       od;
       k = 0;
       atomic { word[mine] = claim; DIE } /* fill */
    :: else
    fi;
    /* decide */
#ifdef BUG_NO_DIRECTORY
    atomic { state[mine] = OPEN; epoch[mine]++; claimer[mine] = 0; assert(ONE_GROUP); claimed = 0; DIE };
#else
    atomic {
        if
#ifdef BUG_DIRECTORY_WITHOUT_SEQUENCE
        :: dir_slot == 0 ->
#else
        :: dir_slot == 0 && dir_sequence == q ->
#endif
           dir_slot = mine + 1; dir_epoch = claim; dir_sequence++; claimed = 0; DIE
        :: else
        fi };
#endif
    q = 0;
    goto again;
found: /* give_back_claim */
    if
    :: claimed ->
       atomic {
           if
           :: state[mine] == CLAIMED && epoch[mine] == claim -> state[mine] = FREE; epoch[mine]++; claimer[mine] = 0
           :: else
           fi;
           claimed = 0; DIE }
    :: else
    fi;
    if
    :: atomic { deletions < DELETIONS -> deletions++; e = epoch[k] };
       atomic { if :: state[k] == OPEN && epoch[k] == e -> state[k] = CLOSED; epoch[k]++ :: else fi; e = 0; DIE };
       SWEEP;
       atomic { k = 0; q = 0; claim = 0; mine = 0 };
       if :: goto again :: goto out fi
    :: true -> skip
    fi;
out:
    atomic { d = 0; de = 0; q = 0; s = 0; e = 0; w = 0; k = 0; mine = 0; claim = 0 } }

init {
    byte k;
    atomic {
        do
        :: k == CLIENTS -> break
        :: else -> run Client(k); k++
        od;
        k = 0 };
    _nr_pr == 1;
    atomic {
        assert(ONE_GROUP);
        do
        :: k == SLOTS -> break
        :: else -> assert(state[k] != CLAIMED || (claimer[k] != 0 && (dead[claimer[k] - 1] || dir_slot == k + 1))); k++
        od } }
