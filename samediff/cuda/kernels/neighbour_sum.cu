// y[o, i, k] = the sum of x[o, i - depth … i + depth, k] of what there is along the middle axis of n.

extern "C" __global__ void neighbours(const T *x, T *y, const I size, const I n, const I inner, const I depth) {
    for (I place = (I)blockIdx.x * blockDim.x + threadIdx.x; place < size; place += (I)gridDim.x * blockDim.x) {
        const I i = place / inner % n, first = i > depth ? depth : i, last = n - 1 - i > depth ? depth : n - 1 - i;
        typename work_of<T>::type sum = 0;
        for (I k = -first; k <= last; ++k) sum += load(x[place + k * inner]);
        store(y[place], sum);
    }
}
