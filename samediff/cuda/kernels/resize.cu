// One axis of arrays (outer, old, inner) made anew: place o is the sum of weights[begin[o] + k] * x[first[o] + k]. The tables go before
// this. Open: T, OUT, WORK (type of the arithmetic), I (type of offsets).

extern "C" __global__ void resample(const T *from, OUT *out, const long long size, const int old, const int count, const int inner) {
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x) {
        const I row = i / inner, outer = row / count;
        const int o = (int)(row - outer * count), low = begin[o], taps = begin[o + 1] - low;
        const T *at = from + (outer * old + first[o]) * inner + (i - row * inner);
        WORK sum = 0;
        for (int k = 0; k < taps; k++) sum += (WORK)load(at[k * (I)inner]) * weights[low + k];
        store(out[i], sum);
    }
}
