// All rows of y from the rows of u with their number: y[a, r, c] = END(START combined with u[a, p, c] for all p of row r, in order).
// The numbers are sorted, so that those of a row are a run (found by halving), or all are looked through (WALK).
// Open: T, X (of the numbers), I (of positions), COMBINE(v, w), START, WALK, ORDERED (order[p] is the row of u), PARTS (threads
// along y share a run; else they have rows of their own), NEUTRAL and JOIN(v, w) (for shares), END(v, count).

#if WALK
#define FOUND found
#else
#define FOUND (high - low)
__device__ __forceinline__ int first_from(const X *key, int count, I r) {
    int low = 0;
    while (count > 0) {
        const int half = count / 2;
        if ((long long)key[low + half] < r) { low += half + 1; count -= half + 1; }
        else count = half;
    }
    return low;
}
#endif

extern "C" __global__ void __launch_bounds__(1024) runs(const T *__restrict__ ref, const T *__restrict__ u, const X *__restrict__ key,
                                const void *__restrict__ order, T *__restrict__ y, const int count, const I n, const I inner,
                                const I columns) {
    typedef typename work_of<T>::type W;
#if PARTS
    __shared__ W shares[1024];
    const int part = threadIdx.y, parts = blockDim.y;
    for (I r = blockIdx.x; r < n; r += gridDim.x) {
#else
    const int part = 0, parts = 1;
    for (I r = blockIdx.x * (I)blockDim.y + threadIdx.y; r < n; r += (I)gridDim.x * blockDim.y) {
#endif
#if !WALK
        const int low = first_from(key, count, r), high = low + first_from(key + low, count - low, r + 1);
#endif
        for (I first = blockIdx.y * (I)blockDim.x; first < columns; first += gridDim.y * (I)blockDim.x) {
            const I q = first + threadIdx.x;
            const bool mine = q < columns;
            const I a = mine ? q / inner : 0, c = mine ? q - a * inner : 0, to = (a * n + r) * inner + c;
            const T *from = u + a * count * inner + c;
            W sum = part == 0 ? (W)START : (W)NEUTRAL;
            (void)parts;
#if WALK
            int found = 0;
            for (int p = 0; p < count; p++) {
                if ((long long)key[p] != r) continue;
                found++;
                sum = COMBINE(sum, load(from[(I)p * inner]));
            }
#else
            if (mine)
                for (int p = low + part; p < high; p += parts)
                    sum = COMBINE(sum, load(from[(I)(ORDERED ? ((const int *)order)[p] : p) * inner]));
#endif
#if PARTS
            W *share = shares + threadIdx.x;
            share[part * blockDim.x] = sum;
            __syncthreads();
            for (int s = parts / 2; s > 0; s /= 2) {
                if (part < s) share[part * blockDim.x] = JOIN(share[part * blockDim.x], share[(part + s) * blockDim.x]);
                __syncthreads();
            }
            sum = share[0];
#endif
            if (mine && part == 0) store(y[to], END(sum, FOUND));
#if PARTS
            __syncthreads();
#endif
        }
    }
}
