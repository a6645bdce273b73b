/* Consumer groups: membership in one word, ownership and position of a partition in another; join, look, acquire, deliver, commit,
   release, leave, evict, rejoin; an operator's reset; a bystander that commits what nobody owns.

   Code: src/group_table/{membership,positions,eviction,reset,bystander,groups_memory}.hpp, and src/group_member.cpp for the order in
   which a member calls them. Sequentially consistent. A member may be killed behind each shared step and be stopped anywhere by
   interleaving; one that lives may be evicted, as by a session that ran out.

   Shown: a commit lands inside the tenure that read the records, or nowhere; nothing unread is skipped; a tenure begins at what
   was committed; nobody takes a partition from an owner that is in the set; committed never falls but by a reset; and when
   nothing can move, each partition whose member lives is owned by it and read to its end: nobody waited for one who is gone. */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef PARTITIONS
#define PARTITIONS 1
#endif
#ifndef RECORDS
#define RECORDS 2
#endif
#ifndef REJOINS
#define REJOINS 1
#endif
#ifndef EVICTIONS
#define EVICTIONS 1 /* of members that live */
#endif
#ifndef RESETS
#define RESETS 0
#endif
#ifndef DEATHS
#define DEATHS 1
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef BYSTANDERS
#define BYSTANDERS 0
#endif
#define MANY 30 /* generations and epochs: reaching it would be a livelock */
#define BIT(m) (1 << (m))
#define BELOW(x) ((1 << (x)) - 1)
#define OWNER(m, i) (1 + (m) + 4 * (i))
#define SLOT(o) (((o) - 1) & 3)
#define INCARNATION(o) (((o) - 1) >> 2)

byte live, epoch;                                                            /* SetWord */
byte incarnation[MEMBERS];                                                   /* HeadWord */
byte committed[PARTITIONS], generation[PARTITIONS], owner[PARTITIONS];       /* PartitionWord */

/* ghosts */
bool dead[MEMBERS], ended[MEMBERS];
byte deaths, rejoins, evictions, leaves, resets;
byte handed[PARTITIONS];    /* records that were handed out, or jumped over by a reset */
byte highest[PARTITIONS];   /* committed, since the last reset */

/* assignment.hpp: any function of the set will do */
#if MEMBERS == 2
#define MEMBER_OF(set, p) ((set) == 3 -> (p) % 2 : ((set) == 1 -> 0 : ((set) == 2 -> 1 : 9)))
#else
#define FIRST(set) ((set) & 1 -> 0 : ((set) & 2 -> 1 : ((set) & 4 -> 2 : 9)))
#define SECOND(set) (((set) & 3) == 3 -> 1 : (((set) & 4) && ((set) & 3) -> 2 : FIRST(set)))
#define MEMBER_OF(set, p) ((p) % 2 == 0 -> FIRST(set) : SECOND(set))
#endif

/* groups_memory.hpp, is_owner */
#ifdef BUG_OWNER_WITHOUT_INCARNATION
#define IS_OWNER(set, o) ((o) != 0 && ((set) & BIT(SLOT(o))))
#else
#define IS_OWNER(set, o) ((o) != 0 && ((set) & BIT(SLOT(o))) && incarnation[SLOT(o)] == INCARNATION(o))
#endif
/* attempts that change nothing are left out: they would hide that nothing moves any more */
#define CAN_TAKE(p) ((live & BIT(m)) && !IS_OWNER(live, owner[p]))
#define IS_REALLY_OWNER(o) ((o) != 0 && (live & BIT(SLOT(o))) && incarnation[SLOT(o)] == INCARNATION(o))

#define DIE if :: deaths < DEATHS -> deaths++; dead[m] = 1; goto out :: true fi
#define HOLDS(p) (tenure[p] != 0)
#define STANDS(p) (generation[p] == tenure[p] && owner[p] == OWNER(m, i))
#define DROP(p) tenure[p] = 0; position[p] = 0

proctype Member(byte m) {
    byte seen, set, i, p, e, c, g, o;
    byte tenure[PARTITIONS], position[PARTITIONS];
    bool in;
join: /* membership.hpp, join: hold_slot, enter */
#ifndef BUG_SAME_INCARNATION
    atomic { incarnation[m]++; i = incarnation[m]; DIE };
#endif
    do
    :: atomic { e = epoch; set = live };
       atomic {
           if
#ifdef BUG_SET_BY_STORES
           :: true ->
#else
           :: epoch == e ->
#endif
              live = set | BIT(m); epoch = e + 1; assert(epoch < MANY); in = 1; e = 0; set = 0; DIE; break
#ifndef BUG_SET_BY_STORES
           :: else
#endif
           fi }
    od;
end_polls: /* an end: nothing moves any more; init says what must hold then */
    do
    :: epoch != seen -> /* look; then what is not this member's is released, group_member.cpp */
#ifdef BUG_TWO_VIEWS
       atomic { seen = epoch; set = live; if :: m == 1 && set == 3 -> set = 2 :: else fi };
#else
       atomic { seen = epoch; set = live };
#endif
       if :: !(set & BIT(m)) || incarnation[m] != i -> goto evicted :: else fi;
       p = 0;
       do
       :: p == PARTITIONS -> break
       :: p < PARTITIONS && !(HOLDS(p) && MEMBER_OF(set, p) != m) -> p++
       :: p < PARTITIONS && HOLDS(p) && MEMBER_OF(set, p) != m -> /* positions.hpp, release */
          atomic { c = committed[p]; g = generation[p]; o = owner[p] };
          if
          :: g == tenure[p] && o == OWNER(m, i) ->
             atomic {
                 if
                 :: committed[p] == c && generation[p] == g && owner[p] == o ->
                    owner[p] = 0;
                    if
                    :: position[p] >= c -> committed[p] = position[p]; highest[p] = position[p]; assert((handed[p] & BELOW(committed[p])) == BELOW(committed[p]))
                    :: else
                    fi;
                    DROP(p); p++; DIE
                 :: else /* looked at again */
                 fi }
          :: else -> DROP(p); p++
          fi;
          c = 0; g = 0; o = 0
       od;
       p = 0
    :: epoch == seen && PARTITIONS > 0 && HOLDS(0) && position[0] < RECORDS -> p = 0; goto deliver
    :: epoch == seen && PARTITIONS > 1 && HOLDS(PARTITIONS - 1) && position[PARTITIONS - 1] < RECORDS -> p = PARTITIONS - 1; goto deliver
    :: epoch == seen && HOLDS(0) && position[0] > 0 && !(STANDS(0) && position[0] == committed[0]) -> p = 0; goto commit
    :: epoch == seen && PARTITIONS > 1 && HOLDS(PARTITIONS - 1) && position[PARTITIONS - 1] > 0 &&
       !(STANDS(PARTITIONS - 1) && position[PARTITIONS - 1] == committed[PARTITIONS - 1]) -> p = PARTITIONS - 1; goto commit
    :: epoch == seen && HOLDS(0) && !STANDS(0) -> atomic { DROP(0) } /* standing */
    :: epoch == seen && PARTITIONS > 1 && HOLDS(PARTITIONS - 1) && !STANDS(PARTITIONS - 1) -> atomic { DROP(PARTITIONS - 1) }
    :: epoch == seen && !HOLDS(0) && MEMBER_OF(set, 0) == m && CAN_TAKE(0) -> p = 0; goto acquire
#ifdef BUG_TWO_VIEWS
    :: epoch == seen && !HOLDS(0) && MEMBER_OF(set, 0) == m && owner[0] != OWNER(m, i) -> p = 0; goto acquire
#endif
    :: epoch == seen && PARTITIONS > 1 && !HOLDS(PARTITIONS - 1) && MEMBER_OF(set, PARTITIONS - 1) == m &&
       CAN_TAKE(PARTITIONS - 1) -> p = PARTITIONS - 1; goto acquire
    :: atomic { epoch == seen && evictions < EVICTIONS && (live & ~BIT(m)) -> evictions++ };
       goto evict
#ifndef BUG_WAITS_FOR_THE_DEAD
    :: epoch == seen && ((dead[0] && (live & 1)) || (dead[1] && (live & 2)) || (MEMBERS > 2 && dead[MEMBERS - 1] && (live & 4))) -> goto evict
#endif
    :: atomic { epoch == seen && leaves < LEAVES -> leaves++ };
       goto leave
    od;

deliver: /* standing is asked, then a record is handed out */
    atomic {
        if
        :: STANDS(p) -> DIE
        :: else -> DROP(p); p = 0; goto end_polls
        fi };
    atomic {
        if :: STANDS(p) -> handed[p] = handed[p] | BIT(position[p]) :: else fi;
        position[p]++;
#ifdef BUG_COMMITS_BEYOND
        if :: position[p] < RECORDS -> position[p]++ :: else fi;
#endif
        p = 0; DIE };
    goto end_polls;

commit: /* positions.hpp, check and apply_one */
    atomic { c = committed[p]; g = generation[p]; o = owner[p]; DIE };
judged:
    if
    :: g == tenure[p] && o == OWNER(m, i) && position[p] >= c -> skip
    :: else -> atomic { DROP(p); p = 0; c = 0; g = 0; o = 0; goto end_polls }
    fi;
    atomic {
        if
#ifdef BUG_COMMIT_RETRIED_WITH_WHAT_IS_FOUND
        :: true ->
#else
        :: committed[p] == c && generation[p] == g && owner[p] == o ->
#endif
           assert(generation[p] == tenure[p] && owner[p] == OWNER(m, i));
           committed[p] = position[p];
           assert(committed[p] >= highest[p]);
           highest[p] = committed[p];
           assert((handed[p] & BELOW(committed[p])) == BELOW(committed[p]));
           p = 0; c = 0; g = 0; o = 0; DIE; goto end_polls
#ifndef BUG_COMMIT_RETRIED_WITH_WHAT_IS_FOUND
        :: else -> c = committed[p]; g = generation[p]; o = owner[p]; goto judged
#endif
        fi };

acquire: /* positions.hpp, acquire: the word, then the set */
#ifdef BUG_SET_READ_BEFORE_THE_WORD
    atomic { e = live; DIE };
    atomic { c = committed[p]; g = generation[p]; o = owner[p]; DIE };
#else
    atomic { c = committed[p]; g = generation[p]; o = owner[p]; DIE };
    atomic { e = live };
#endif
#ifdef BUG_TWO_VIEWS
    if
    :: true -> skip
#else
    if
    :: (e & BIT(m)) && (o == OWNER(m, i) || !IS_OWNER(e, o)) -> skip
#endif
    :: else -> atomic { c = 0; g = 0; o = 0; e = 0; p = 0; goto end_polls }
    fi;
    atomic {
        if
        :: committed[p] == c && generation[p] == g && owner[p] == o ->
#ifndef BUG_TWO_VIEWS
           assert(o == OWNER(m, i) || !IS_REALLY_OWNER(o));
#endif
#ifndef BUG_SAME_GENERATION
           generation[p]++;
#endif
           assert(generation[p] < MANY);
           if :: generation[p] == 0 -> generation[p] = 1 :: else fi;
           owner[p] = OWNER(m, i); tenure[p] = generation[p];
#ifndef BUG_OLD_POSITION_KEPT
           position[p] = c;
#endif
           DIE
        :: else
        fi;
        c = 0; g = 0; o = 0; e = 0; p = 0 };
    goto end_polls;

evict: /* eviction.hpp, evict: exactly the set that was judged. One that is proven dead, or any other */
    atomic { e = epoch; set = live };
    atomic {
        if
        :: m != 0 && (set & 1) -> p = 0
        :: m != 1 && (set & 2) -> p = 1
#if MEMBERS > 2
        :: m != 2 && (set & 4) -> p = 2
#endif
        :: else -> p = 9
        fi };
    if
    :: p == 9 -> skip
    :: else ->
#ifdef BUG_EPOCH_BEFORE_THE_SET
       epoch++;
       live = live & ~BIT(p)
#else
       atomic { if :: epoch == e -> live = set & ~BIT(p); epoch++; assert(epoch < MANY); DIE :: else fi }
#endif
    fi;
    atomic { e = 0; p = 0 };
    goto end_polls;

leave: /* membership.hpp, step_out */
    do
    :: atomic { e = epoch; set = live };
       if
       :: !(set & BIT(m)) || incarnation[m] != i -> break
       :: else -> atomic { if :: epoch == e -> live = set & ~BIT(m); epoch++; DIE; break :: else fi }
       fi
    od;

evicted:
    atomic {
        in = 0; e = 0; c = 0; g = 0; o = 0; p = 0; set = 0; seen = 0;
        DROP(0); DROP(PARTITIONS - 1);
        if :: rejoins < REJOINS -> rejoins++; goto join :: true -> goto out fi };
out:
    atomic { ended[m] = 1; in = 0 } }

/* reset.hpp: begin, set for each partition, finish */
proctype Operator() {
    byte p, c, g, o, x;
    do
    :: resets == RESETS -> break
    :: break
    :: resets < RESETS ->
       atomic { epoch++; resets++ };
       p = 0;
       if :: x = 0 :: x = 1 fi;
       do
       :: p == PARTITIONS -> break
       :: else ->
          atomic { c = committed[p]; g = generation[p]; o = owner[p] };
          atomic {
              if
              :: committed[p] == c && generation[p] == g && owner[p] == o ->
#ifdef BUG_RESET_KEEPS_THE_TENURE
                 committed[p] = x;
#else
                 committed[p] = x; generation[p]++; owner[p] = 0;
#endif
                 highest[p] = x; handed[p] = BELOW(x); p++
              :: else
              fi }
       od;
       atomic { epoch++; p = 0; c = 0; g = 0; o = 0; x = 0 }
    od }

/* bystander.hpp, commit_unowned: one record further, which it has read by itself */
proctype Bystander() {
    byte c, g, o, s;
    atomic { c = committed[0]; g = generation[0]; o = owner[0] };
    do
    :: s = live;
       if
       :: c >= RECORDS -> break
#ifdef BUG_BYSTANDER_ASKS_NO_OWNER
       :: c < RECORDS ->
#else
       :: c < RECORDS && IS_OWNER(s, o) -> break
       :: c < RECORDS && !IS_OWNER(s, o) ->
#endif
          atomic {
              if
              :: committed[0] == c && generation[0] == g && owner[0] == o ->
                 assert(!IS_REALLY_OWNER(owner[0]));
                 committed[0] = c + 1; owner[0] = 0; highest[0] = c + 1; handed[0] = handed[0] | BIT(c);
                 break
              :: else -> c = committed[0]; g = generation[0]; o = owner[0]
              fi }
       fi
    od }

init {
    byte k;
    atomic {
        do
        :: k == MEMBERS -> break
        :: else -> run Member(k); k++
        od;
#if RESETS
        run Operator();
#endif
#if BYSTANDERS
        run Bystander();
#endif
        k = 0 };
    timeout;
    /* nothing can move any more */
    atomic {
        do
        :: k == PARTITIONS -> break
        :: else ->
           if
           :: live == 0
           :: else ->
              if
              :: MEMBER_OF(live, k) == 9 || ended[MEMBER_OF(live, k)]
              :: else -> assert(owner[k] == OWNER(MEMBER_OF(live, k), incarnation[MEMBER_OF(live, k)]) && committed[k] == RECORDS)
              fi
           fi;
           k++
        od;
        k = 0;
        do
        :: k == MEMBERS -> break
        :: else -> assert(ended[k] || (live & BIT(k))); assert(!(dead[k] && (live & BIT(k))) || (ended[0] && ended[1] && ended[MEMBERS - 1])); k++
        od } }
