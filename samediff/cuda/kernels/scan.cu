// Running sums and products along the middle axis of (count, n, inner); x may be y. W: the type of the arithmetic, COMBINE: sum_of, prod_of.

// inner is 1: a block goes along a row, as many elements at once as it has threads.
extern "C" __global__ void __launch_bounds__(1024) scan_rows(const T *x, T *y, const I count, const I n, const int exclusive,
                                                             const int reverse) {
    __shared__ W totals[32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    typedef typename lane_type<W>::type S;
    for (I row = blockIdx.x; row < count; row += gridDim.x) {
        W carry = START;
        for (I base = 0; base < n; base += blockDim.x) {
            const I e = base + threadIdx.x, at = row * n + (reverse ? n - 1 - e : e);
            W v = e < n ? (W)load(x[at]) : (W)START;
            for (int k = 1; k < 32; k <<= 1) {
                const W before = (W)__shfl_up_sync(0xffffffffu, (S)v, k);
                if (lane >= k) v = COMBINE::of(before, v);
            }
            __syncthreads();
            if (lane == 31) totals[warp] = v;
            __syncthreads();
            W before = carry;
            for (int w = 0; w < warps; ++w) {
                if (w == warp) before = carry;
                carry = COMBINE::of(carry, totals[w]);
            }
            const W left = (W)__shfl_up_sync(0xffffffffu, (S)v, 1);
            if (e < n) store(y[at], COMBINE::of(before, exclusive ? lane ? left : (W)START : v));
        }
    }
}

// A thread for each of the neighbours along the last axis.
extern "C" __global__ void scan_columns(const T *x, T *y, const I count, const I n, const I inner, const int exclusive, const int reverse) {
    const I lines = count * inner;
    for (I line = (I)blockIdx.x * blockDim.x + threadIdx.x; line < lines; line += (I)gridDim.x * blockDim.x) {
        const I outer = line / inner, start = outer * n * inner + line - outer * inner;
        W sum = START;
        for (I k = 0; k < n; ++k) {
            const I at = start + (reverse ? n - 1 - k : k) * inner;
            const W next = COMBINE::of(sum, (W)load(x[at]));
            store(y[at], exclusive ? sum : next);
            sum = next;
        }
    }
}
