/* Which points to take out, one after the other; see trajectory/suppress.py.
 *
 * Two sets of sequences, each with the list of those that hold a point and a count of those that are left.
 * The points wait in a heap. What a point solves only shrinks, so a rank that is too good is noticed when it
 * comes to the top; what it costs shrinks too, and then the point moves up at once.
 */
#include "loops.h"

#include <stdlib.h>

typedef struct {
    const int32_t *members;
    const int64_t *starts;
    int64_t *of, *begin; /* the sequences of each point, and where they begin */
    int64_t *left;       /* for each point, how many of them are still there */
    uint8_t *there;
} set_t;

static void empty(set_t *set)
{
    free(set->of);
    free(set->begin);
    free(set->left);
    free(set->there);
}

static int fill(set_t *set, const int32_t *members, const int64_t *starts, int64_t count, int64_t points)
{
    int64_t used = starts[count];
    set->members = members;
    set->starts = starts;
    set->of = malloc((size_t)(used + 1) * sizeof *set->of);
    set->begin = calloc((size_t)points + 1, sizeof *set->begin);
    set->left = calloc((size_t)points + 1, sizeof *set->left);
    set->there = malloc((size_t)count + 1);
    if (!set->of || !set->begin || !set->left || !set->there)
        return -1;
    for (int64_t i = 0; i < used; i++)
        set->left[members[i]]++;
    for (int64_t p = 0; p < points; p++)
        set->begin[p + 1] = set->begin[p] + set->left[p];
    for (int64_t s = 0; s < count; s++) {
        set->there[s] = 1;
        for (int64_t i = starts[s]; i < starts[s + 1]; i++)
            set->of[set->begin[members[i]]++] = s;
    }
    for (int64_t p = points; p > 0; p--)
        set->begin[p] = set->begin[p - 1];
    set->begin[0] = 0;
    return 0;
}

typedef struct {
    int64_t above, below, gain; /* the score as a fraction, and what breaks ties */
    int32_t point;
} rank_t;

typedef struct {
    set_t bad, good;
    const int64_t *instances;
    int64_t kind; /* 0: gain per loss, 1: gain, 2: least loss */
    rank_t *heap;
    int64_t waiting;
    int64_t *place; /* of each point in the heap, or -1 */
} queue_t;

static rank_t ranked(const queue_t *q, int32_t point)
{
    int64_t gain = q->bad.left[point];
    return (rank_t){q->kind == 2 ? 1 : gain, q->kind == 1 ? 1 : q->good.left[point] + 1, gain, point};
}

/* Counts are below 2^31, so the products are exact. */
static int earlier(const queue_t *q, rank_t a, rank_t b)
{
    int64_t x = a.above * b.below, y = b.above * a.below;
    if (x != y)
        return x > y;
    if (a.gain != b.gain)
        return a.gain > b.gain;
    if (q->instances[a.point] != q->instances[b.point])
        return q->instances[a.point] < q->instances[b.point];
    return a.point < b.point;
}

static void put(queue_t *q, int64_t at, rank_t rank)
{
    q->heap[at] = rank;
    q->place[rank.point] = at;
}

static void up(queue_t *q, int64_t at, rank_t rank)
{
    while (at > 0 && earlier(q, rank, q->heap[(at - 1) / 2])) {
        put(q, at, q->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(q, at, rank);
}

static void down(queue_t *q, int64_t at, rank_t rank)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= q->waiting)
            break;
        if (child + 1 < q->waiting && earlier(q, q->heap[child + 1], q->heap[child]))
            child++;
        if (!earlier(q, q->heap[child], rank))
            break;
        put(q, at, q->heap[child]);
        at = child;
    }
    put(q, at, rank);
}

static void leave(queue_t *q)
{
    q->place[q->heap[0].point] = -1;
    if (--q->waiting)
        down(q, 0, q->heap[q->waiting]);
}

/* Every sequence with this point goes; `moved`: points of those that went move up where they cost less. */
static void removed(queue_t *q, set_t *set, int32_t point, int moved)
{
    for (int64_t i = set->begin[point]; i < set->begin[point + 1]; i++) {
        int64_t s = set->of[i];
        if (!set->there[s])
            continue;
        set->there[s] = 0;
        for (int64_t at = set->starts[s]; at < set->starts[s + 1]; at++)
            set->left[set->members[at]]--;
    }
    for (int64_t i = moved ? set->begin[point] : set->begin[point + 1]; i < set->begin[point + 1]; i++)
        for (int64_t at = set->starts[set->of[i]]; at < set->starts[set->of[i] + 1]; at++) {
            int32_t other = set->members[at];
            if (q->place[other] < 0)
                continue;
            rank_t now = ranked(q, other);
            if (earlier(q, now, q->heap[q->place[other]]))
                up(q, q->place[other], now);
        }
}

/* 0, and the points in order with what each solved and cost, `found[0]` many; -1 where there is no memory. */
int64_t privet_suppress_points(const int32_t *bad, const int64_t *bad_starts, int64_t bads, const int32_t *good,
                    const int64_t *good_starts, int64_t goods, int64_t points, const int64_t *instances,
                    int64_t kind, int32_t *order, int64_t *gain, int64_t *loss, int64_t *found)
{
    queue_t q = {.instances = instances, .kind = kind};
    int failed = fill(&q.bad, bad, bad_starts, bads, points) | fill(&q.good, good, good_starts, goods, points);
    q.heap = malloc((size_t)(points + 1) * sizeof *q.heap);
    q.place = malloc((size_t)(points + 1) * sizeof *q.place);
    failed |= !q.heap || !q.place;
    int64_t count = 0;
    if (!failed) {
        for (int32_t p = 0; p < points; p++) {
            q.place[p] = -1;
            if (q.bad.left[p])
                up(&q, q.waiting++, ranked(&q, p));
        }
        while (q.waiting) {
            rank_t top = q.heap[0], now = ranked(&q, top.point);
            if (!now.gain) {
                leave(&q);
            } else if (earlier(&q, top, now)) { /* it has lost ground meanwhile: back in line */
                down(&q, 0, now);
            } else {
                order[count] = top.point;
                gain[count] = now.gain;
                loss[count++] = q.good.left[top.point];
                leave(&q);
                removed(&q, &q.bad, top.point, 0);
                removed(&q, &q.good, top.point, 1);
            }
        }
    }
    found[0] = count;
    empty(&q.bad);
    empty(&q.good);
    free(q.heap);
    free(q.place);
    return failed ? -1 : 0;
}
