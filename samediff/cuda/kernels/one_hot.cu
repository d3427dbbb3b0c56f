// y[a, d, c] = on where index[a, c] == d, else off; `outside` for an index that is no d. Open: T, X (of the indices), I (of positions).

extern "C" __global__ void one_hot(const X *__restrict__ index, T *__restrict__ y, const I size, const I depth, const I inner,
                                   const double on, const double off, const double outside) {
    for (I i = blockIdx.x * (I)blockDim.x + threadIdx.x; i < size; i += (I)gridDim.x * blockDim.x) {
        const I row = i / inner, c = i - row * inner, a = row / depth, d = row - a * depth;
        const auto at = load(index[a * inner + c]);
        store(y[i], at == d ? on : at >= 0 && at < depth && (I)at == at ? off : outside);
    }
}
