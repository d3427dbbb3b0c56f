// Index vectors as numbers of rows, counted in C order; n where a vector points outside. Open: X (of the indices).

extern "C" __global__ void places(const X *__restrict__ index, int *__restrict__ place, const long long count, const int depth,
                                  const int n, const long long s0, const long long s1, const long long s2, const long long s3,
                                  const long long s4, const long long s5, const long long s6, const long long s7) {
    const long long sizes[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
    for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < count; k += (long long)gridDim.x * blockDim.x) {
        long long at = 0;
        bool inside = true;
        for (int j = 0; j < depth; j++) {
            const long long i = (long long)index[k * depth + j];
            inside = inside && i >= 0 && i < sizes[j];
            at = at * sizes[j] + i;
        }
        place[k] = inside ? (int)at : n;
    }
}
