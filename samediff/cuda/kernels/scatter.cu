// Rows of y changed at indices, for few indices into a large array: y[a, index[k], c] = COMBINE(y[a, index[k], c], u[a, k, c]).
// One warp for each index; the first of equal ones (the last, where LAST is set) does the work of all, in their order.
// Open: T, X (of the indices), I (of positions), COMBINE(v, w), LAST (0 or 1).

#define EACH 4
#define ALL 0xffffffffu

extern "C" __global__ void change(const T *__restrict__ u, const X *__restrict__ index, T *__restrict__ y, const int count, const I n,
                                  const I inner, const I columns) {
    typedef typename work_of<T>::type W;
    const int lane = threadIdx.x;
    for (int k = blockIdx.x * blockDim.y + threadIdx.y; k < count; k += gridDim.x * blockDim.y) {
        const long long row = (long long)index[k];
        if (row < 0 || row >= n) continue;
        bool other = false;
        const int low = LAST ? k + 1 : 0, high = LAST ? count : k;
        for (int j = low; j < high && !other; j += 32)
            other = __any_sync(ALL, j + lane < high && (long long)index[j + lane < high ? j + lane : k] == row);
        if (other) continue;
        for (I first = blockIdx.y * (I)(32 * EACH); first < columns; first += gridDim.y * (I)(32 * EACH)) {
            W sum[EACH];
            I from[EACH], to[EACH];
            for (int i = 0; i < EACH; i++) {
                const I q = first + i * 32 + lane;
                if (q >= columns) { from[i] = -1; continue; }
                const I a = q / inner, c = q - a * inner;
                from[i] = a * count * inner + c;
                to[i] = (a * n + (I)row) * inner + c;
                sum[i] = load(y[to[i]]);
                sum[i] = COMBINE(sum[i], load(u[from[i] + k * inner]));
            }
            for (int j = k + 1; j < count && !LAST; j += 32) {
                unsigned int equal = __ballot_sync(ALL, j + lane < count && (long long)index[j + lane < count ? j + lane : k] == row);
                for (; equal; equal &= equal - 1) {
                    const I p = j + __ffs(equal) - 1;
                    for (int i = 0; i < EACH; i++)
                        if (from[i] >= 0) sum[i] = COMBINE(sum[i], load(u[from[i] + p * inner]));
                }
            }
            for (int i = 0; i < EACH; i++)
                if (from[i] >= 0) store(y[to[i]], sum[i]);
        }
    }
}
